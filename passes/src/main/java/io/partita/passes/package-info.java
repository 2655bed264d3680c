/** Rewrites of modules, and the order in which they run. */
package io.partita.passes;
