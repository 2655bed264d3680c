/** Passes that set how syncs communicate: their algorithm and their codec. */
package io.partita.passes.mesh.sync;
