/* The loops of a matrix product over blocks of its result, for gemm_f32.c and gemm_integer.c. */
#ifndef PARTITA_GEMM_BLOCKS_H
#define PARTITA_GEMM_BLOCKS_H

#include "gemm.h"

enum { PARTITA_BLOCK = 4 };

/* A block of the result: its batch, first row and column, and how many of both. */
struct partita_block {
    int32_t batch;
    int32_t row;
    int32_t column;
    int32_t rows;
    int32_t columns;
};

static inline int32_t partita_blocks_across(const struct partita_gemm *gemm)
{
    return gemm->n / PARTITA_BLOCK + (gemm->n % PARTITA_BLOCK != 0);
}

static inline int32_t partita_blocks_down(const struct partita_gemm *gemm)
{
    return gemm->m / PARTITA_BLOCK + (gemm->m % PARTITA_BLOCK != 0);
}

static inline int32_t partita_blocks(const struct partita_gemm *gemm)
{
    return gemm->batch * partita_blocks_down(gemm) * partita_blocks_across(gemm);
}

static inline int32_t partita_at_most_a_block(int32_t extent)
{
    return extent < PARTITA_BLOCK ? extent : PARTITA_BLOCK;
}

/* Blocks count along rows first. */
static inline struct partita_block partita_block(const struct partita_gemm *gemm, int32_t number)
{
    const int32_t across = partita_blocks_across(gemm);
    const int32_t down = partita_blocks_down(gemm);
    struct partita_block block = {.batch = number / across / down,
                                  .row = number / across % down * PARTITA_BLOCK,
                                  .column = number % across * PARTITA_BLOCK};
    block.rows = partita_at_most_a_block(gemm->m - block.row);
    block.columns = partita_at_most_a_block(gemm->n - block.column);
    return block;
}

#endif
