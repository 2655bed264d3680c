/** From a chip's program to a schedule: tiles, places in memory, transfers. */
package io.partita.passes.schedule;
