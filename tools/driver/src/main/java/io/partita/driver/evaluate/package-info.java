/** How good a model's answers are on data, and what they cost on the wire. */
package io.partita.driver.evaluate;
