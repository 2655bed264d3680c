/**
 * Compiles models from Java. This package is the stable interface for other programs; of other
 * packages, only {@code io.partita.ir.diagnostic} is part of it.
 */
package io.partita.api;
