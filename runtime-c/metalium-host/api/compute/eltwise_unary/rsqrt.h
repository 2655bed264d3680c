/* A function of the elements of a destination register, by the vector engine. */
#pragma once

#include "api/kernel.h"

void rsqrt_tile_init();
void rsqrt_tile(uint32_t dst);
