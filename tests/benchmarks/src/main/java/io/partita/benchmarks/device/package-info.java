/**
 * Measurements of emitted C on simulated chips, compared with predictions, and the calibration of
 * targets.
 */
package io.partita.benchmarks.device;
