/** Canonical forms of reshapes, transposes and slices. */
package io.partita.passes.graph.raise.movement;
