/** Turns a schedule into the output model. */
package io.partita.backend.siracusa.code;
