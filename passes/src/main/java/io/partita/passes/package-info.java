/** Passes and pipelines. */
package io.partita.passes;
