/* A function of the elements of a destination register, by the vector engine. */
#pragma once

#include "api/kernel.h"

/* Only the exact one is emulated: the chip's fast one has a table of 6 pieces. */
template <bool fast_and_approx = true> void gelu_tile_init();
template <bool fast_and_approx = true> void gelu_tile(uint32_t dst);
