/* A function of the elements of a destination register, by the vector engine. */
#pragma once

#include "api/kernel.h"

void gelu_tile_init();
void gelu_tile(uint32_t dst);
