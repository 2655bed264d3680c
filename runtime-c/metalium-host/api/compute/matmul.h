/* Products of tiles. */
#pragma once

#include "api/kernel.h"

/* With transpose, each right tile is transposed. */
void matmul_init(uint32_t a, uint32_t b, uint32_t transpose = 0);
/* Adds the product to a destination register. */
void matmul_tiles(uint32_t a, uint32_t b, uint32_t tile_a, uint32_t tile_b, uint32_t dst);
