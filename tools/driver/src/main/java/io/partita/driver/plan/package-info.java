/** Plans a model for a target, for {@code partita plan}. */
package io.partita.driver.plan;
