/** Loads, compiles and checks models, for the command line and the Maven plugin. */
package io.partita.driver;
