/**
 * Lowering from the mesh dialect to the program dialect: the computation and the messages of each
 * device.
 */
package io.partita.passes.program.localize;
