/** Generates text with compiled language models. */
package io.partita.driver.text;
