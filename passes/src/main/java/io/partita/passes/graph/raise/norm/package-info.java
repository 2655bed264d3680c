/** Layer and RMS norms. */
package io.partita.passes.graph.raise.norm;
