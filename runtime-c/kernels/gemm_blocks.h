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

#endif
