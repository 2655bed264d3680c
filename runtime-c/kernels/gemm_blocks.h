/* The loops of a matrix product over blocks of its result, for gemm_f32.c and gemm_integer.c. */
#ifndef PARTITA_GEMM_BLOCKS_H
#define PARTITA_GEMM_BLOCKS_H

#include "gemm.h"

enum { PARTITA_BLOCK = 4 };

/* A block of the result: its batch, first row and column, and number of rows and columns. */
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

/* Advances by `count` blocks, along rows first. After the last block, the batch is out of range. */
static inline void partita_advance(const struct partita_gemm *gemm, struct partita_block *block, int32_t count)
{
    const int32_t width = (gemm->n + PARTITA_BLOCK - 1) & -PARTITA_BLOCK;
    block->column += count * PARTITA_BLOCK;
    while (block->column >= width && block->batch < gemm->batch) {
        block->column -= width;
        block->row += PARTITA_BLOCK;
        if (block->row >= gemm->m) {
            block->row = 0;
            block->batch++;
        }
    }
    block->rows = partita_at_most_a_block(gemm->m - block->row);
    block->columns = partita_at_most_a_block(gemm->n - block->column);
}

/* Returns the elements before the right matrix of a batch. Division takes as long as many elements. */
static inline int32_t partita_right_matrix(const struct partita_gemm *gemm, int32_t batch)
{
    return (gemm->group == 1 ? batch : batch / gemm->group) * gemm->right_batch;
}

/*
 * Returns a core's first block; the core then advances by the number of cores. So different cores read neighbouring
 * columns, from different memory banks.
 */
static inline struct partita_block partita_first_block(const struct partita_gemm *gemm, int32_t core)
{
    struct partita_block block = {.batch = 0};
    if (gemm->m == 0 || gemm->n == 0) {
        block.batch = gemm->batch;
    } else {
        partita_advance(gemm, &block, core);
    }
    return block;
}

#endif
