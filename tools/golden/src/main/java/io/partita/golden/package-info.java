/** Compares emitted code with committed files. */
package io.partita.golden;
