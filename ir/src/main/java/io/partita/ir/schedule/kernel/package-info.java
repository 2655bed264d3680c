/**
 * The kernels of the runtime and their calls. The file for each header of {@code runtime-c/kernels}
 * has an entry for each kernel, the structs of arguments and the meaning of kernels; {@link
 * io.partita.ir.schedule.kernel.KernelTable} finds them by name.
 */
package io.partita.ir.schedule.kernel;
