/** Verification of modules. */
package io.partita.ir.verify;
