/** Compares emitted code with files that were committed. */
package io.partita.golden;
