/**
 * What emitted programs for several devices run on. These sources are emitted as they are, but for
 * package and names of classes; so they keep to Java 17 and depend on nothing.
 */
package io.partita.backend.java.runtime;
