/* A conversion of the elements of a destination register, by the vector engine. */
#pragma once

#include "emulation/buffer.h"

#include "api/kernel.h"

/* Only from f32 to bf16, whose numbers are left as f32. */
template <uint32_t from, uint32_t to> void typecast_tile_init();
template <uint32_t from, uint32_t to> void typecast_tile(uint32_t dst);
