/** Prints schedules as C, with a weights image for each chip and a makefile. */
package io.partita.backend.siracusa;
