/** Linear layers and feed-forward networks. */
package io.partita.passes.graph.raise.linear;
