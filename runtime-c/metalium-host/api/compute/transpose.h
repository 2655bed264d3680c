/* Transposed tiles. */
#pragma once

#include "api/kernel.h"

void transpose_init(uint32_t cb);
void transpose_tile(uint32_t cb, uint32_t tile, uint32_t dst);
