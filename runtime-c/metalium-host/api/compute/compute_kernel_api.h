/* Functions of the elements of a destination register, by the vector engine. */
#pragma once

#include "api/kernel.h"

void silu_tile_init();
void silu_tile(uint32_t dst);
void sigmoid_tile_init();
void sigmoid_tile(uint32_t dst);
void tanh_tile_init();
void tanh_tile(uint32_t dst);
void square_tile_init();
void square_tile(uint32_t dst);
void abs_tile_init();
void abs_tile(uint32_t dst);
