/**
 * Exchanges between devices as schedules of sends and receives, with a proof that they end and give
 * what they should.
 */
package io.partita.passes.program.collective;
