/** What the emitted program looks like, decided before a line is printed. */
package io.partita.backend.java.plan;
