/**
 * What emitted C takes on simulated chips, beside what is predicted; and how figures of a target
 * follow.
 */
package io.partita.benchmarks.device;
