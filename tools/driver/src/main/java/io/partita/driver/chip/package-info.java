/** Compiling to chips that run C. */
package io.partita.driver.chip;
