/** Addresses and live ranges of regions in the memories of a chip. */
package io.partita.passes.schedule.place;
