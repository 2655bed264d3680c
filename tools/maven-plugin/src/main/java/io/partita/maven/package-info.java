/** The goals of the Maven plugin. They start the compiler in a JVM of its own. */
package io.partita.maven;
