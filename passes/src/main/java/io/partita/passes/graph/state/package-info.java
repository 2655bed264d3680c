/** Turning KV caches from inputs and outputs into state. */
package io.partita.passes.graph.state;
