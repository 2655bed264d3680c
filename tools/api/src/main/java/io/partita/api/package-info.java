/**
 * Compiling models from Java. This package is what other programs may rely on: its names and their
 * meaning stay. Of other packages only {@code io.partita.ir.diagnostic} is part of it.
 */
package io.partita.api;
