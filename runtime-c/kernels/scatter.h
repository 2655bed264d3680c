/*
 * Copies in which elements or whole rows are then overwritten at given indices, one update after the other. Results
 * don't overlap operands. Cores divide the extent: each reads all indices, in order, and applies the updates to its own
 * part, so that several updates of one element are applied in order.
 */
#ifndef PARTITA_SCATTER_H
#define PARTITA_SCATTER_H

#include "kernel.h"

/*
 * out = data, and then out[o, indices[o, i, j] - first, j] = updates[o, i, j] for outer o, count i, inner j; or, with
 * `rows`, out[o, indices[i] - first, j] = updates[o, i, j]. The tile is the rows from `first` on of a tensor with
 * `whole` ones: a negative index counts from that tensor's end. Updates outside the tile are skipped.
 */
struct partita_scatter {
    const void *data;       /* [outer, extent, inner]; none if out has the data, and earlier updates, already */
    const int64_t *indices; /* [outer, count, inner], or [count] */
    const void *updates;    /* [outer, count, inner] */
    void *out;              /* [outer, extent, inner] */
    int32_t outer;
    int32_t extent;
    int32_t inner;
    int32_t count;
    int32_t first;
    int32_t whole;
    int32_t rows;
};

/* By width in bits. */
partita_kernel partita_scatter_8, partita_scatter_16, partita_scatter_32, partita_scatter_64;

/* Joined with the old element: exact, integers wrapping; a minimum or maximum is NaN if either is. */
partita_kernel partita_scatter_add_f32, partita_scatter_mul_f32, partita_scatter_min_f32, partita_scatter_max_f32;
partita_kernel partita_scatter_add_i32, partita_scatter_mul_i32, partita_scatter_min_i32, partita_scatter_max_i32;
partita_kernel partita_scatter_add_i64, partita_scatter_mul_i64, partita_scatter_min_i64, partita_scatter_max_i64;

#endif
