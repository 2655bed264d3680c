/** Analysis of attention masks: each element as a formula of its indices. */
package io.partita.passes.graph.raise.mask;
