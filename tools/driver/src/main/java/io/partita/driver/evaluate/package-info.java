/** Measures the quality of a model on data, and its traffic between devices. */
package io.partita.driver.evaluate;
