/** What emitted programs should compute, step by step, and where they don't. */
package io.partita.backend.siracusa.probe;
