/** Patterns, rewrite rules and the engine that applies them. */
package io.partita.passes.rewrite;
