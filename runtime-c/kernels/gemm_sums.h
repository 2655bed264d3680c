/* What is done with the sums of a product of integers, for gemm_integer.c. */
#ifndef PARTITA_GEMM_SUMS_H
#define PARTITA_GEMM_SUMS_H

#include "gemm_walk.h"

/* The most whole blocks whose sums are requantised or added together. */
enum { TOGETHER = 4 };

/* Sums wrap, so their order doesn't matter. */
static void add_bias(const struct partita_gemm *gemm, const struct partita_block *block, uint32_t *sums)
{
    const int32_t *bias = (const int32_t *)gemm->bias + block->column;
    if (gemm->bias == 0) {
        return;
    }
    for (int32_t i = 0; i < block->rows; i++) {
        for (int32_t j = 0; j < block->columns; j++) {
            sums[i * PARTITA_BLOCK + j] += (uint32_t)bias[j];
        }
    }
}

/* Stores a block, or adds it to what out holds. */
static __attribute__((noinline)) void store(const struct partita_gemm *gemm, const struct walk *walk,
                                            uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])
{
    const int32_t accumulate = gemm->accumulate;
    int32_t *out = (int32_t *)gemm->out + walk->out;
    for (int32_t i = 0; i < walk->block.rows; i++) {
        for (int32_t j = 0; j < walk->block.columns; j++) {
            out[j] = (int32_t)(accumulate ? sums[i][j] + (uint32_t)out[j] : sums[i][j]);
        }
        out += gemm->out_row;
    }
}

/* Adds sums [columns] to out [columns]. */
static __attribute__((noinline)) void accumulate_row(int32_t *out, const uint32_t *sums, int32_t columns)
{
    for (; columns > 0; columns--, out++) {
        *out = (int32_t)(*sums++ + (uint32_t)*out);
    }
}

/* Adds sums [rows, 4], of whole blocks one below the other, to out [rows, 4], whose rows are out_row elements apart. */
static __attribute__((noinline)) void accumulate_blocks(int32_t *out, int32_t out_row,
                                                        int32_t sums[][PARTITA_BLOCK], int32_t rows)
{
    for (int32_t i = 0; i < rows; i++) {
        int32_t held[PARTITA_BLOCK];
        PARTITA_UNROLLED (int32_t j = 0; j < PARTITA_BLOCK; j++) {
            held[j] = out[j];
        }
        PARTITA_UNROLLED (int32_t j = 0; j < PARTITA_BLOCK; j++) {
            out[j] = (int32_t)((uint32_t)sums[i][j] + (uint32_t)held[j]);
        }
        out += out_row;
    }
}

#endif
