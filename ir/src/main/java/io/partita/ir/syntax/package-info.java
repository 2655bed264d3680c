/** Diagnostics of the parsers of all text forms. */
package io.partita.ir.syntax;
