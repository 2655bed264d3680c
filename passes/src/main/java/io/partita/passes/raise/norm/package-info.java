/** Layer and RMS norms. */
package io.partita.passes.raise.norm;
