/* Destination registers to circular buffers. */
#pragma once

#include "api/kernel.h"

namespace partita::metalium {
void pack(uint32_t dst, uint32_t cb, bool is_placed, uint32_t tile);
} // namespace partita::metalium

/* To the next of the reserved tiles, or to the given one. */
template <bool OUT_OF_ORDER = false> void pack_tile(uint32_t dst, uint32_t cb, uint32_t tile = 0)
{
    partita::metalium::pack(dst, cb, OUT_OF_ORDER, tile);
}

void pack_reconfig_data_format(uint32_t cb);
