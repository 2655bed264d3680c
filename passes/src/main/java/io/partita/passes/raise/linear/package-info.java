/** Linear layers and feed-forward networks. */
package io.partita.passes.raise.linear;
