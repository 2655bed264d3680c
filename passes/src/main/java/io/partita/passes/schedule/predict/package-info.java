/** Predicts the time and the traffic of a schedule by the figures of its target. */
package io.partita.passes.schedule.predict;
