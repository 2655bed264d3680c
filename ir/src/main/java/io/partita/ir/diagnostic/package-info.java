/** Numbered messages to the user. */
package io.partita.ir.diagnostic;
