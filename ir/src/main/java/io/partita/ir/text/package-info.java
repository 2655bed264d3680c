/** The text forms {@code .pir} and {@code .sched}. */
package io.partita.ir.text;
