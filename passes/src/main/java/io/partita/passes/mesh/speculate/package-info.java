/** Attention-level speculation on two groups of devices. */
package io.partita.passes.mesh.speculate;
