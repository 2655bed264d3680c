/** Reshapes, transposes and slices in a form that other rules can rely on. */
package io.partita.passes.graph.raise.movement;
