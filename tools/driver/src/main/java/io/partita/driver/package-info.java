/** Loading, compiling and checking models: what the command line and the Maven plugin share. */
package io.partita.driver;
