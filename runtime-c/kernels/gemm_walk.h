/* The blocks of a product of integers that a core computes, for gemm_integer.c. */
#ifndef PARTITA_GEMM_WALK_H
#define PARTITA_GEMM_WALK_H

#include "gemm_bytes.h"

/* A core's blocks: consecutive ones, down the columns first. */
struct walk {
    struct partita_block block;
    int32_t left;  /* the elements before the block's rows, */
    int32_t right; /* its columns */
    int32_t out;   /* and its results */
    int32_t count; /* of blocks, this one among them */
    int32_t first; /* the word with which its products begin */
};

/* The block's place after a change of column or batch. */
static void enter(const struct partita_gemm *gemm, struct walk *walk)
{
    struct partita_block *block = &walk->block;
    block->columns = partita_at_most_a_block(gemm->n - block->column);
    block->rows = partita_at_most_a_block(gemm->m - block->row);
    walk->left = block->batch * gemm->left_batch + block->row * gemm->left_row;
    walk->right = partita_right_matrix(gemm, block->batch) + block->column * gemm->right_column;
    walk->out = block->batch * gemm->out_batch + block->row * gemm->out_row + block->column;
}

static struct walk walk(const struct partita_gemm *gemm, int32_t core, int32_t cores)
{
    const int32_t down = (gemm->m + PARTITA_BLOCK - 1) / PARTITA_BLOCK;
    const int32_t all = down * ((gemm->n + PARTITA_BLOCK - 1) / PARTITA_BLOCK);
    const struct partita_range share = partita_share(gemm->batch * all, 1, core, cores);
    struct walk walk = {.count = share.to - share.from, .first = partita_first_word(gemm->k / 4, core)};
    if (walk.count > 0) {
        const int32_t batch = gemm->batch == 1 ? 0 : share.from / all;
        const int32_t first = share.from - batch * all;
        const int32_t column = down == 1 ? first : first / down;
        walk.block.batch = batch;
        walk.block.row = (first - column * down) * PARTITA_BLOCK;
        walk.block.column = column * PARTITA_BLOCK;
        enter(gemm, &walk);
    }
    return walk;
}

/* Advances by `count` blocks of a column. */
static inline void advance(const struct partita_gemm *gemm, struct walk *walk, int32_t count)
{
    struct partita_block *block = &walk->block;
    walk->count -= count;
    block->row += count * PARTITA_BLOCK;
    if (block->row < gemm->m) {
        walk->left += count * PARTITA_BLOCK * gemm->left_row;
        walk->out += count * PARTITA_BLOCK * gemm->out_row;
        block->rows = partita_at_most_a_block(gemm->m - block->row);
        return;
    }
    block->row = 0;
    block->column += PARTITA_BLOCK;
    if (block->column >= gemm->n) {
        block->column = 0;
        block->batch++;
    }
    enter(gemm, walk);
}

#endif
