/* A function of the elements of a destination register, by the vector engine. */
#pragma once

#include "api/kernel.h"

void recip_tile_init();
void recip_tile(uint32_t dst);
