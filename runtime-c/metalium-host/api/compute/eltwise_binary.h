/* Sums, differences and products of tiles, element by element. */
#pragma once

#include "api/compute/common.h"

void add_init(uint32_t a, uint32_t b);
void sub_init(uint32_t a, uint32_t b);
void mul_init(uint32_t a, uint32_t b);
void add_tiles(uint32_t a, uint32_t b, uint32_t tile_a, uint32_t tile_b, uint32_t dst);
void sub_tiles(uint32_t a, uint32_t b, uint32_t tile_a, uint32_t tile_b, uint32_t dst);
void mul_tiles(uint32_t a, uint32_t b, uint32_t tile_a, uint32_t tile_b, uint32_t dst);

namespace partita::metalium {
void init_reuse(char operation, bool is_a, uint32_t cb);
void reuse(char operation, bool is_a, uint32_t cb, uint32_t tile, uint32_t dst);
} // namespace partita::metalium

/* One operand is the destination register, moved to the given source register; the other is a tile. */
template <EltwiseBinaryReuseDestType REUSE> void add_reuse_dest_init(uint32_t cb)
{
    static_assert(REUSE != EltwiseBinaryReuseDestType::NONE);
    partita::metalium::init_reuse('+', REUSE == EltwiseBinaryReuseDestType::DEST_TO_SRCA, cb);
}

template <EltwiseBinaryReuseDestType REUSE> void add_reuse_dest_tiles(uint32_t cb, uint32_t tile, uint32_t dst)
{
    partita::metalium::reuse('+', REUSE == EltwiseBinaryReuseDestType::DEST_TO_SRCA, cb, tile, dst);
}

template <EltwiseBinaryReuseDestType REUSE> void sub_reuse_dest_init(uint32_t cb)
{
    static_assert(REUSE != EltwiseBinaryReuseDestType::NONE);
    partita::metalium::init_reuse('-', REUSE == EltwiseBinaryReuseDestType::DEST_TO_SRCA, cb);
}

template <EltwiseBinaryReuseDestType REUSE> void sub_reuse_dest_tiles(uint32_t cb, uint32_t tile, uint32_t dst)
{
    partita::metalium::reuse('-', REUSE == EltwiseBinaryReuseDestType::DEST_TO_SRCA, cb, tile, dst);
}

template <EltwiseBinaryReuseDestType REUSE> void mul_reuse_dest_init(uint32_t cb)
{
    static_assert(REUSE != EltwiseBinaryReuseDestType::NONE);
    partita::metalium::init_reuse('*', REUSE == EltwiseBinaryReuseDestType::DEST_TO_SRCA, cb);
}

template <EltwiseBinaryReuseDestType REUSE> void mul_reuse_dest_tiles(uint32_t cb, uint32_t tile, uint32_t dst)
{
    partita::metalium::reuse('*', REUSE == EltwiseBinaryReuseDestType::DEST_TO_SRCA, cb, tile, dst);
}
