/** Prints the plan as Java. */
package io.partita.backend.java.code;
