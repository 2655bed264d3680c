/** Plans a model for a target: what {@code partita plan} does. */
package io.partita.driver.plan;
