/* Operations with a constant, given as the bits of an f32. */
#pragma once

#include "api/kernel.h"

void binop_with_scalar_tile_init();
void add_unary_tile(uint32_t dst, uint32_t bits);
void sub_unary_tile(uint32_t dst, uint32_t bits);
void mul_unary_tile(uint32_t dst, uint32_t bits);
