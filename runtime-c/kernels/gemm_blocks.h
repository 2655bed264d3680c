/* Blocks of the result of a matrix product, for the kernels that compute one block after the other. */
#ifndef PARTITA_GEMM_BLOCKS_H
#define PARTITA_GEMM_BLOCKS_H

#include "gemm.h"

enum { PARTITA_BLOCK = 4 };

/* A block of the result, or several beside each other: batch, first row and column, number of rows and columns. */
struct partita_block {
    int32_t batch;
    int32_t row;
    int32_t column;
    int32_t rows;
    int32_t columns;
};

static inline int32_t partita_at_most_a_block(int32_t extent)
{
    return extent < PARTITA_BLOCK ? extent : PARTITA_BLOCK;
}

/* Returns the elements before the right matrix of a batch. Division takes as long as many elements. */
static inline int32_t partita_right_matrix(const struct partita_gemm *gemm, int32_t batch)
{
    return gemm->batch == 1 ? 0 : batch / gemm->group * gemm->right_batch;
}

#define PARTITA_STORE_ROW(row, s0, s1, s2, s3)                                                                         \
    (row)[0] = (s0), (row)[1] = (s1), (row)[2] = (s2), (row)[3] = (s3)

#endif
