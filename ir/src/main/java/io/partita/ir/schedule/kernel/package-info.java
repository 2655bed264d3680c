/**
 * The kernels of the runtime and calls of them. A file for each header of {@code runtime-c/kernels}
 * has one entry for each kernel, its arguments' structs and what kernels compute; {@link
 * io.partita.ir.schedule.kernel.KernelTable} finds them by name.
 */
package io.partita.ir.schedule.kernel;
