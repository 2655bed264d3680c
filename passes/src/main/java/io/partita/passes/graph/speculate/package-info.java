/**
 * Attention-level speculation: continues with an approximate attention where it is close enough.
 */
package io.partita.passes.graph.speculate;
