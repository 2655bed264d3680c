/*
 * Batched matrix products on tiles, with any strides, so that either operand may be transposed:
 *
 *   out[b, i, j] = (accumulate ? out[b, i, j] : 0) + sum over l of left[b, i, l] right[b, l, j], then + bias[j]
 *
 * for b < batch, i < m, j < n, l < k. The sum is in ascending order of l, starting from out when accumulating, so
 * tiles of the inner extent give the same bits as the whole. The bias (null if there is none) is added last, so it
 * belongs to the last tile. Rows of out are contiguous, out_row apart; out doesn't overlap the operands. A batch
 * stride of 0 uses one matrix for all batches, and with `group` > 1, `group` batches share a right matrix: a group of
 * heads shares its key-value head.
 *
 * Cores take blocks of 4 rows by 4 columns in turn, over all batches. gemv is the same for m = 1, with blocks of 4
 * columns. Byte products are fast for whole blocks of 4 rows or 1 if rows of left are contiguous (left_column 1) and
 * so are columns of right (right_row 1); they are nearly as fast if rows of right are contiguous (right_column 1). So
 * are products of floats, which are as fast either way.
 *
 * f32: exact. With contraction, products aren't rounded: within 2 k u of the sum of the products' magnitudes.
 * Integers: sums are i32 and wrap; exact.
 */
#ifndef PARTITA_GEMM_H
#define PARTITA_GEMM_H

#include "kernel.h"

struct partita_gemm {
    const void *left;  /* [batch, m, k] */
    const void *right; /* [batch / group, k, n] */
    const void *bias;  /* [n] or null, of out's type */
    void *out;         /* [batch, m, n] f32 or i32 */
    int32_t batch;
    int32_t group; /* 1 or more */
    int32_t m;
    int32_t n;
    int32_t k;
    int32_t accumulate;
    int32_t left_batch;
    int32_t left_row;
    int32_t left_column;
    int32_t right_batch;
    int32_t right_row;
    int32_t right_column;
    int32_t out_batch;
    int32_t out_row;
};

/* f32, f32 -> f32 */
partita_kernel partita_gemm_f32, partita_gemv_f32;

/* partita_gemm_LEFT_RIGHT: integers -> i32 */
partita_kernel partita_gemm_i8_i8, partita_gemm_i8_u8, partita_gemm_u8_i8, partita_gemm_u8_u8, partita_gemm_i16_i8,
    partita_gemm_i16_i16, partita_gemm_i32_i8, partita_gemm_i32_u8, partita_gemm_i32_i32;
partita_kernel partita_gemv_i8_i8, partita_gemv_i8_u8, partita_gemv_u8_i8, partita_gemv_u8_u8, partita_gemv_i16_i8,
    partita_gemv_i16_i16, partita_gemv_i32_i8, partita_gemv_i32_u8, partita_gemv_i32_i32;

/*
 * The same, fused with requantisation: out = clamp(((sum + bias[j]) multiplier + addend + 2^shift / 2) >>
 * shift, low, high) in 64 bits, where multiplier and addend are per column j, per row i or shared, by their strides
 * of 0 or 1. Doesn't accumulate; sums are i32 and wrap first. Exact: equals matmul, add and requantize of the graph.
 */
struct partita_gemm_requantize {
    struct partita_gemm gemm; /* bias and sums i32; out i8, u8 or i32; accumulate 0 */
    const int32_t *multiplier;
    const int32_t *addend;
    int32_t multiplier_row;
    int32_t multiplier_column;
    int32_t addend_row;
    int32_t addend_column;
    int32_t shift; /* from 0 to 62 */
    int32_t low;
    int32_t high;
};

/* partita_gemm_requantize_LEFT_RIGHT_OUT */
partita_kernel partita_gemm_requantize_i8_i8_i8, partita_gemm_requantize_i8_i8_u8, partita_gemm_requantize_i8_i8_i32,
    partita_gemm_requantize_u8_i8_i8, partita_gemm_requantize_u8_i8_u8, partita_gemm_requantize_u8_i8_i32;
partita_kernel partita_gemv_requantize_i8_i8_i8, partita_gemv_requantize_i8_i8_u8, partita_gemv_requantize_i8_i8_i32,
    partita_gemv_requantize_u8_i8_i8, partita_gemv_requantize_u8_i8_u8, partita_gemv_requantize_u8_i8_i32;

#endif
