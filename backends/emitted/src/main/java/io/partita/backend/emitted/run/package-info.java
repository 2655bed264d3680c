/** Builds and runs emitted programs. */
package io.partita.backend.emitted.run;
