/* The larger, or the smaller, elements of two destination registers, by the vector engine. */
#pragma once

#include "api/kernel.h"

void binary_max_tile_init();
void binary_max_tile(uint32_t left, uint32_t right, uint32_t out);
void binary_min_tile_init();
void binary_min_tile(uint32_t left, uint32_t right, uint32_t out);
