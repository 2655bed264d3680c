/* A function of the elements of a destination register, by the vector engine. */
#pragma once

#include "api/kernel.h"

void relu_tile_init();
void relu_tile(uint32_t dst);
