/** Analyses of the structure of raised transformers. */
package io.partita.passes.graph.anatomy;
