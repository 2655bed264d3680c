/* Elementwise operations on two destination registers, by the vector engine. */
#pragma once

#include "api/kernel.h"

void add_binary_tile_init();
void add_binary_tile(uint32_t left, uint32_t right, uint32_t out);
void sub_binary_tile_init();
void sub_binary_tile(uint32_t left, uint32_t right, uint32_t out);
void mul_binary_tile_init();
void mul_binary_tile(uint32_t left, uint32_t right, uint32_t out);
void div_binary_tile_init();
void div_binary_tile(uint32_t left, uint32_t right, uint32_t out);
