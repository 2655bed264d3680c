/* Access to destination registers, for the matrix engine and the vector engine. */
#pragma once

#include "compute.h"

namespace partita::metalium {

/* The engines of the current kernel, which must be a compute kernel. */
ComputeState &engine(const char *call);
/* The number of destination registers. */
uint32_t capacity();
/* The elements of an acquired register, in rows. */
float *destination(uint32_t dst, const char *call, bool is_read = false);
/* Rounds what was written to a register to what it holds: 32 bits, or bf16. */
void round_in_destination(float *elements);

} // namespace partita::metalium
