/** The text form {@code .pir}. */
package io.partita.ir.text;
