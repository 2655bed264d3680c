/** Numbered diagnostics for the user. */
package io.partita.ir.diagnostic;
