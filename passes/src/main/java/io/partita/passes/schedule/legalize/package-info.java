/** Rewrites of a device's graph to operations that kernels of the runtime compute. */
package io.partita.passes.schedule.legalize;
