/** Compares the steps of emitted programs with the reference. */
package io.partita.backend.emitted.probe;
