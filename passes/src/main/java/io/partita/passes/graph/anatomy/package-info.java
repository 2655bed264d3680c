/** What a transformer consists of, found in its raised graph. */
package io.partita.passes.graph.anatomy;
