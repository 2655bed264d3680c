/**
 * Simplification: constant folding, common subexpressions, and removal of operations without
 * effect.
 */
package io.partita.passes.graph.simplify;
