/** Clean-up that keeps meaning: folding, common subexpressions, operations without effect. */
package io.partita.passes.graph.simplify;
