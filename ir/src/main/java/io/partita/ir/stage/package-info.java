/** The stages of compilation. */
package io.partita.ir.stage;
