/* Sums and maxima of the elements of tiles. */
#pragma once

#include "api/compute/common.h"

namespace partita::metalium {
void init_reduce(PoolType pool, ReduceDim dimension, uint32_t cb, uint32_t scaler, uint32_t out);
void reduce(PoolType pool, ReduceDim dimension, uint32_t cb, uint32_t scaler, uint32_t tile, uint32_t tile_scaler, uint32_t dst);
} // namespace partita::metalium

/* Sums along rows need their operands in exchanged source registers: reconfig_data_format(scaler, cb). */
template <PoolType POOL, ReduceDim DIMENSION> void reduce_init(uint32_t cb, uint32_t scaler, uint32_t out)
{
    partita::metalium::init_reduce(POOL, DIMENSION, cb, scaler, out);
}

/*
 * Adds to the sums in a destination register, or takes the maxima with it. REDUCE_ROW gives column 0, REDUCE_COL row 0, and
 * REDUCE_SCALAR element 0. Factors are in row 0 of each face of the scaler.
 */
template <PoolType POOL, ReduceDim DIMENSION>
void reduce_tile(uint32_t cb, uint32_t scaler, uint32_t tile, uint32_t tile_scaler, uint32_t dst)
{
    partita::metalium::reduce(POOL, DIMENSION, cb, scaler, tile, tile_scaler, dst);
}

/* The packer writes whole tiles again. */
void reduce_uninit();
