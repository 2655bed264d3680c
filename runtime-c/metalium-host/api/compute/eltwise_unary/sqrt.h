/* A function of the elements of a destination register, by the vector engine. */
#pragma once

#include "api/kernel.h"

void sqrt_tile_init();
void sqrt_tile(uint32_t dst);
