/** Lowering of operations to kernels, with the possible tilings of their tensors. */
package io.partita.passes.schedule.lower;
