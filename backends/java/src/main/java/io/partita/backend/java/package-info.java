/** Emits programs as readable Java without dependencies. */
package io.partita.backend.java;
