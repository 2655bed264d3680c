/*
 * Copies of elements of 8, 16, 32 and 64 bits. Results don't overlap operands. Cores divide the result into parts of 8
 * elements in row-major order.
 */
#ifndef PARTITA_MOVEMENT_H
#define PARTITA_MOVEMENT_H

#include "kernel.h"

/*
 * out[i...] = x[i...], each with its strides: a transpose, a slice (x at its start, with steps), a broadcast (strides
 * of 0), a part of a concatenation, the inner part of a padding. Strides may be negative.
 */
struct partita_copy {
    const void *x;
    void *out;
    int32_t extents[PARTITA_AXES];
    int32_t x_strides[PARTITA_AXES];
    int32_t out_strides[PARTITA_AXES];
};

partita_kernel partita_copy_8, partita_copy_16, partita_copy_32, partita_copy_64;

/*
 * out[o, i, j] = data[o, indices[i], j] for outer o, count i, inner j. A negative index counts from the end; one that
 * is still out of range gives zeros. An embedding has outer = 1 and its features as inner.
 */
struct partita_gather {
    const void *data;    /* [outer, extent, inner] */
    const void *indices; /* [count], i32 or i64 */
    void *out;           /* [outer, count, inner] */
    int32_t outer;
    int32_t extent;
    int32_t inner;
    int32_t count;
};

partita_kernel partita_gather_8_i32, partita_gather_16_i32, partita_gather_32_i32, partita_gather_64_i32;
partita_kernel partita_gather_8_i64, partita_gather_16_i64, partita_gather_32_i64, partita_gather_64_i64;

/* out[o, i, j] = data[o, indices[o, i, j], j] for outer o, count i, inner j; indices as above. */
struct partita_gather_elements {
    const void *data;       /* [outer, extent, inner] */
    const int64_t *indices; /* [outer, count, inner] */
    void *out;              /* [outer, count, inner] */
    int32_t outer;
    int32_t extent;
    int32_t inner;
    int32_t count;
};

partita_kernel partita_gather_elements_8, partita_gather_elements_16, partita_gather_elements_32,
    partita_gather_elements_64;

#endif
