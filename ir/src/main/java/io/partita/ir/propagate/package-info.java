/** Propagation and inference of layouts by factor rules, and evaluation of the mesh dialect. */
package io.partita.ir.propagate;
