/** Runs emitted programs by {@code ttnn} on Tenstorrent's simulator. */
package io.partita.backend.metalium.simulator;
