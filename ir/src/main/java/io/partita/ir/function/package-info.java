/** Scalar functions, and how elements are reduced and combined. */
package io.partita.ir.function;
