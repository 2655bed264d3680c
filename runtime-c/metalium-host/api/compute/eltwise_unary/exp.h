/* A function of the elements of a destination register, by the vector engine. */
#pragma once

#include "api/kernel.h"

void exp_tile_init();
void exp_tile(uint32_t dst);
