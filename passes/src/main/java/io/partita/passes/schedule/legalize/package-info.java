/** Makes a device's graph one of operations that the runtime's kernels compute, or nearly so. */
package io.partita.passes.schedule.legalize;
