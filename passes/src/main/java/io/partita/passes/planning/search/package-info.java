/** The automatic choice: which strategy, on how many devices, and why. */
package io.partita.passes.planning.search;
