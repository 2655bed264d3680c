/**
 * The runtime of emitted programs for several devices. These sources are emitted unchanged, except
 * for the package and the names of classes, so they are limited to Java 17 and have no
 * dependencies.
 */
package io.partita.backend.java.runtime;
