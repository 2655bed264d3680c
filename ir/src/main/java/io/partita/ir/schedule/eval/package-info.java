/**
 * The meaning of a schedule: it runs on byte arrays for each memory of each device, and needs no C
 * compiler.
 */
package io.partita.ir.schedule.eval;
