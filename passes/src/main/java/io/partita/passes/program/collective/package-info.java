/**
 * Exchanges between devices as schedules of sends and receives, with proofs of termination and of
 * their results.
 */
package io.partita.passes.program.collective;
