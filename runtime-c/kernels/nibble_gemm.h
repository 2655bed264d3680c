/*
 * Products of bytes with a matrix of 4-bit integers, of which each group of rows of a column has a scale:
 *
 *   out[i, j] = (accumulate ? out[i, j] : 0) + sum over g of f32(sum over l of x[i, g, l] w[g, l, j]) scales[g, j]
 *
 * for i < rows, j < 8 panels, g < groups, l < group. The sums of a group are exact. Their products with scales are
 * rounded and added in f32 in the order of the groups, from out on when accumulating, so tiles of groups give the same
 * bits as the whole. Exact, also where compilers contract.
 *
 * w stays packed in memory, in the order in which it is read: a panel of 8 columns has 16 bytes for every 4 rows of a
 * group, of which each 4 bytes are these rows of 2 columns. The upper nibble is the second column's integer in two's
 * complement; the lower one is the first column's plus 8.
 *
 * Cores take rows of panels, down the rows first.
 */
#ifndef PARTITA_NIBBLE_GEMM_H
#define PARTITA_NIBBLE_GEMM_H

#include "kernel.h"

struct partita_nibble_gemm {
    const void *x;      /* [rows, groups, group] i8 or u8 */
    const void *codes;  /* [panels, groups, 4 group] */
    const void *scales; /* [panels, groups, 8] f32 or bf16 */
    float *out;         /* [rows, panels, 8] */
    int32_t rows;
    int32_t panels;
    int32_t groups;
    int32_t group; /* a multiple of 8 up to 8192 */
    int32_t accumulate;
};

/* partita_nibble_gemm_X_SCALES */
partita_kernel partita_nibble_gemm_i8_f32, partita_nibble_gemm_i8_bf16, partita_nibble_gemm_u8_f32,
    partita_nibble_gemm_u8_bf16;

#endif
