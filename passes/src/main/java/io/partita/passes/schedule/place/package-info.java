/** Where regions lie in a chip's memories, and when they are there. */
package io.partita.passes.schedule.place;
