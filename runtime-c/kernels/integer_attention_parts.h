/*
 * How cores divide the scores and the weighted values of integer attention, which for each head are a matrix of lines by
 * columns. All kernels share the division into blocks, which thus stays in the instruction cache.
 */
#ifndef PARTITA_INTEGER_ATTENTION_PARTS_H
#define PARTITA_INTEGER_ATTENTION_PARTS_H

#include "gemm_blocks.h"
#include "simd.h"

/* A core's blocks of PARTITA_BLOCK lines by as many columns: consecutive ones, along the columns first. */
struct partita_attention_blocks {
    int32_t head;
    int32_t line;
    int32_t column;
    int32_t count; /* of blocks that are left */
};

struct partita_attention_blocks partita_attention_blocks(int32_t heads, int32_t lines, int32_t columns, int32_t core,
                                                         int32_t cores);

/* Advances by `count` blocks, which are in the same lines. */
static inline void partita_next_blocks(struct partita_attention_blocks *blocks, int32_t lines, int32_t columns,
                                       int32_t count)
{
    blocks->count -= count;
    blocks->column += count * PARTITA_BLOCK;
    if (blocks->column >= columns) {
        blocks->column = 0;
        blocks->line += PARTITA_BLOCK;
        if (blocks->line >= lines) {
            blocks->line = 0;
            blocks->head++;
        }
    }
}

/* A core's blocks of one line by PARTITA_BLOCK columns, for few lines: consecutive ones, from one head to the next. */
struct partita_line_blocks {
    int32_t line;
    int32_t block;    /* the next one of this line */
    int32_t per_line; /* blocks of a line */
    int32_t count;    /* of blocks that are left */
};

static inline struct partita_line_blocks partita_line_blocks(int32_t lines, int32_t columns, int32_t core, int32_t cores)
{
    const int32_t per_line = (columns + PARTITA_BLOCK - 1) / PARTITA_BLOCK;
    const struct partita_range share = partita_share(lines * per_line, 1, core, cores);
    const int32_t line = lines == 1 || share.from == 0 ? 0 : share.from / per_line;
    return (struct partita_line_blocks){line, share.from - line * per_line, per_line, share.to - share.from};
}

/* Returns the core's columns of the current line, and advances to the next one. */
static inline struct partita_range partita_next_columns(struct partita_line_blocks *blocks, int32_t columns)
{
    const int32_t count = partita_min(blocks->per_line - blocks->block, blocks->count);
    const int32_t from = PARTITA_BLOCK * blocks->block;
    blocks->count -= count;
    blocks->block = 0;
    blocks->line++;
    return (struct partita_range){from, partita_min(from + PARTITA_BLOCK * count, columns)};
}

/* The key-value head that a head reads. A division takes as long as 30 other instructions. */
static inline int32_t partita_kv_head(int32_t head, int32_t group)
{
    return head < group ? 0 : head / group;
}

#endif
