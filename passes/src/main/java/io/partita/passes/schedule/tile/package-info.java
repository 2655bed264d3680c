/** How large the tiles of a loop are, in which order they run, and how long that takes. */
package io.partita.passes.schedule.tile;
