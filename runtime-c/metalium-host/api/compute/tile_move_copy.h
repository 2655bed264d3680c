/* Tiles to destination registers. */
#pragma once

#include "api/kernel.h"

void copy_init(uint32_t cb);
/* Its name up to release 0.77. */
inline void copy_tile_init(uint32_t cb)
{
    copy_init(cb);
}
void copy_tile(uint32_t cb, uint32_t tile, uint32_t dst);
