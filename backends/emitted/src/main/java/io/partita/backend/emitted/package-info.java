/** Emitted programs: the descriptions in their folders, and what can go wrong with them. */
package io.partita.backend.emitted;
