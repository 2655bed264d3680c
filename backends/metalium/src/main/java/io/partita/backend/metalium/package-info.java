/** Emits kernels and host programs for Tenstorrent chips. */
package io.partita.backend.metalium;
