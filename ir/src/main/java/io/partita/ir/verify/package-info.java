/** Checks that a module keeps the rules of its dialect. */
package io.partita.ir.verify;
