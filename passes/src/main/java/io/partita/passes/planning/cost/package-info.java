/** Predicted time, traffic and energy of a program on a target. */
package io.partita.passes.planning.cost;
