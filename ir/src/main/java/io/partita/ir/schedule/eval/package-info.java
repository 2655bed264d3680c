/** Evaluation of schedules on byte arrays for each memory of each device, without a C compiler. */
package io.partita.ir.schedule.eval;
