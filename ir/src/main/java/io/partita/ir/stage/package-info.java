/** What a model is at each stage of compilation. */
package io.partita.ir.stage;
