/** Conversion of KV caches from inputs and outputs to state. */
package io.partita.passes.graph.state;
