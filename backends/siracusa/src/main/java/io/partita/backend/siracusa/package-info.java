/** Prints schedules as C, with a weights image for each chip and what builds them. */
package io.partita.backend.siracusa;
