/* Tiles to destination registers. */
#pragma once

#include "api/kernel.h"

void copy_init(uint32_t cb);
void copy_tile(uint32_t cb, uint32_t tile, uint32_t dst);
