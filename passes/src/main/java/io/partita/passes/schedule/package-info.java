/** Scheduling of a chip's program: tiles, addresses, transfers. */
package io.partita.passes.schedule;
