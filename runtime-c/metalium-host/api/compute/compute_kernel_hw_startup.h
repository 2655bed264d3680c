/* The first call of a compute kernel. */
#pragma once

#include "api/compute/common.h"

namespace partita::metalium {
void start_compute(uint32_t a, uint32_t b, uint32_t out);
} // namespace partita::metalium

/* Sets the formats of both source registers and of the packer. A matmul has its left operand in the second source register. */
template <SrcOrder ORDER = SrcOrder::Regular> void compute_kernel_hw_startup(uint32_t a, uint32_t b, uint32_t out)
{
    if (ORDER == SrcOrder::Reverse) {
        partita::metalium::start_compute(b, a, out);
    } else {
        partita::metalium::start_compute(a, b, out);
    }
}

inline void compute_kernel_hw_startup(uint32_t a, uint32_t out)
{
    partita::metalium::start_compute(a, a, out);
}
