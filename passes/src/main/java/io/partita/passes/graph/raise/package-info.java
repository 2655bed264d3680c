/** Recovery of the building blocks of transformers from the small nodes that exporters write. */
package io.partita.passes.graph.raise;
