/** The goals of the Maven plugin. They start the compiler in a separate JVM. */
package io.partita.maven;
