/* Reductions and scans over whole lines of the operand. Results don't overlap operands. */
#ifndef PARTITA_REDUCTION_H
#define PARTITA_REDUCTION_H

#include "kernel.h"

/*
 * out[i...] joins x[i..., j...] over all j..., each index with its strides in x; out is contiguous. An empty line
 * gives 0 for a sum, NaN or 0 for a mean, 1 for a product, -infinity or the smallest integer for a maximum, and the
 * opposite for a minimum. A maximum or minimum is NaN if an element is. Cores take whole results.
 *
 * Integers: exact, wrapping; the mean of a 64-bit sum is truncated towards zero. Floats in row-major order of j:
 * maximum and minimum exact, sum and mean of n elements within n u of the sum or mean of magnitudes, product within n
 * u.
 */
struct partita_reduce {
    const void *x;
    void *out;
    int32_t extents[PARTITA_AXES];        /* of i... */
    int32_t strides[PARTITA_AXES];        /* of i... in x */
    int32_t joined_extents[PARTITA_AXES]; /* of j... */
    int32_t joined_strides[PARTITA_AXES]; /* of j... in x */
};

partita_kernel partita_reduce_sum_f32, partita_reduce_mean_f32, partita_reduce_product_f32, partita_reduce_max_f32,
    partita_reduce_min_f32;
partita_kernel partita_reduce_sum_i8, partita_reduce_mean_i8, partita_reduce_product_i8, partita_reduce_max_i8,
    partita_reduce_min_i8;
partita_kernel partita_reduce_sum_i32, partita_reduce_mean_i32, partita_reduce_product_i32, partita_reduce_max_i32,
    partita_reduce_min_i32;
partita_kernel partita_reduce_sum_i64, partita_reduce_mean_i64, partita_reduce_product_i64, partita_reduce_max_i64,
    partita_reduce_min_i64;
partita_kernel partita_reduce_sum_u64, partita_reduce_mean_u64, partita_reduce_product_u64, partita_reduce_max_u64,
    partita_reduce_min_u64;
partita_kernel partita_reduce_sum_f64, partita_reduce_mean_f64, partita_reduce_product_f64, partita_reduce_max_f64,
    partita_reduce_min_f64;

/*
 * For each line of x [outer, extent, inner] the running sum or product up to each element, including it or (exclusive)
 * not, or (reverse) from the end. Out may be x. Cores take whole lines.
 *
 * Integers: exact, wrapping. Floats: a sum of n elements within n u of the sum of their magnitudes, a product within
 * n u.
 */
struct partita_cumulative {
    const void *x; /* [outer, extent, inner] */
    void *out;     /* as x */
    int32_t outer;
    int32_t extent;
    int32_t inner;
    int32_t exclusive;
    int32_t reverse;
};

partita_kernel partita_cumulative_sum_f32, partita_cumulative_product_f32, partita_cumulative_sum_i32,
    partita_cumulative_product_i32, partita_cumulative_sum_i64, partita_cumulative_product_i64,
    partita_cumulative_sum_f64, partita_cumulative_product_f64;

/*
 * The index of the largest or smallest element of each line of x [outer, extent, inner], the first of equal ones, or
 * the last. NaN wins either way, and 0 equals -0. Exact; extent is at least 1. Cores take whole lines.
 */
struct partita_arg_reduce {
    const void *x; /* [outer, extent, inner] */
    int64_t *out;  /* [outer, inner] */
    int32_t outer;
    int32_t extent;
    int32_t inner;
    int32_t select_last;
};

partita_kernel partita_arg_max_f32, partita_arg_min_f32, partita_arg_max_i8, partita_arg_min_i8, partita_arg_max_i32,
    partita_arg_min_i32, partita_arg_max_i64, partita_arg_min_i64, partita_arg_max_u64, partita_arg_min_u64,
    partita_arg_max_f64, partita_arg_min_f64;

/*
 * The k largest (or smallest) elements of each line in order, equal ones by ascending index, and their indices. NaN is
 * larger than all. Exact; takes extent k steps in the worst case. Cores take whole lines.
 */
struct partita_top_k {
    const void *x;    /* [outer, extent, inner] */
    void *values;     /* [outer, k, inner] */
    int64_t *indices; /* [outer, k, inner] */
    int32_t outer;
    int32_t extent;
    int32_t inner;
    int32_t k; /* from 0 to extent */
    int32_t largest;
};

partita_kernel partita_top_k_f32, partita_top_k_i8, partita_top_k_i32, partita_top_k_i64, partita_top_k_u64,
    partita_top_k_f64;

#endif
