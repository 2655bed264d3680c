/** Which kernels compute an operation, and how its tensors may be cut for them. */
package io.partita.passes.schedule.lower;
