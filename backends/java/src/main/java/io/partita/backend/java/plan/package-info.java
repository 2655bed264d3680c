/** Plans the emitted program before any line is printed. */
package io.partita.backend.java.plan;
