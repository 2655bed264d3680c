/*
 * Copies with single elements or whole rows written at places that indices name, one update after the other. Results
 * don't overlap operands. Cores take parts of the extent: each looks at all indices, in order, and applies the updates
 * of its own places, so that several updates of one place are applied in their order.
 */
#ifndef PARTITA_SCATTER_H
#define PARTITA_SCATTER_H

#include "kernel.h"

/*
 * out = data, and then out[o, indices[o, i, j] - first, j] = updates[o, i, j] for outer o, count i, inner j; or, with
 * `rows`, out[o, indices[i] - first, j] = updates[o, i, j]. The tile is the rows from `first` on of a tensor with
 * `whole` ones: an index below 0 counts from that one's end. Updates of other places than the tile's are left out.
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

/* By bits. */
partita_kernel partita_scatter_8, partita_scatter_16, partita_scatter_32, partita_scatter_64;

/* Joined with what is there: exact, integers wrapping; a minimum or maximum is NaN if either is. */
partita_kernel partita_scatter_add_f32, partita_scatter_mul_f32, partita_scatter_min_f32, partita_scatter_max_f32;
partita_kernel partita_scatter_add_i32, partita_scatter_mul_i32, partita_scatter_min_i32, partita_scatter_max_i32;
partita_kernel partita_scatter_add_i64, partita_scatter_mul_i64, partita_scatter_min_i64, partita_scatter_max_i64;

#endif
