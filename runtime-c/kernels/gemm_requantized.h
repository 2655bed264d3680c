/* Requantises the sums of blocks of a matrix product, for gemm_integer.c. */
#ifndef PARTITA_GEMM_REQUANTIZED_H
#define PARTITA_GEMM_REQUANTIZED_H

#include "gemm_blocks.h"
#include "requantized.h"

/*
 * PARTITA_REQUANTIZED(OUT_TYPE, OUT, STORE): functions for elements OUT, which the instruction STORE stores.
 * requantized_OUT_TYPE: requantises the sums of a block's columns, in `rows` rows of PARTITA_BLOCK, at least one. A single
 * row may have more columns. Multipliers and addends per column or shared have short code.
 */
#define PARTITA_REQUANTIZED(OUT_TYPE, OUT, STORE)                                                                      \
    PARTITA_REQUANTIZE_COLUMN(column_##OUT_TYPE, OUT, STORE)                                                           \
                                                                                                                       \
    /* A column of any multipliers and addends. */                                                                     \
    static __attribute__((noinline)) void any_column_##OUT_TYPE(const struct partita_gemm_requantize *requantize,      \
                                                                const int32_t *multiplier, const int32_t *addend,      \
                                                                OUT *out, int32_t rows, const uint32_t *sums)          \
    {                                                                                                                  \
        const struct partita_requantized to =                                                                          \
            partita_requantized(requantize->shift, requantize->low, requantize->high);                                 \
        for (int32_t i = 0; i < rows; i++) {                                                                           \
            *out = (OUT)partita_requantize(to, (int32_t)sums[i * PARTITA_BLOCK], *multiplier, *addend);                \
            multiplier += requantize->multiplier_row;                                                                  \
            addend += requantize->addend_row;                                                                          \
            out += requantize->gemm.out_row;                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static PARTITA_COMPACT void requantized_##OUT_TYPE(const struct partita_gemm_requantize *requantize,               \
                                                       const struct partita_block *block, OUT *out, int32_t rows,      \
                                                       const uint32_t *sums)                                           \
    {                                                                                                                  \
        const int32_t *multiplier = requantize->multiplier + block->row * requantize->multiplier_row +                 \
                                    block->column * requantize->multiplier_column;                                     \
        const int32_t *addend = requantize->addend + block->row * requantize->addend_row +                             \
                                block->column * requantize->addend_column;                                             \
        const int32_t is_short =                                                                                       \
            requantize->shift >= 2 && (requantize->multiplier_row | requantize->addend_row) == 0;                      \
        const int32_t out_row = requantize->gemm.out_row;                                                              \
        struct partita_upper to = partita_upper(requantize->shift, requantize->low, requantize->high);                 \
        for (int32_t columns = block->columns; columns > 0; columns--) {                                               \
            if (is_short && partita_set_upper(&to, *multiplier, *addend)) {                                            \
                column_##OUT_TYPE(to, sums, PARTITA_BLOCK, out, out_row, rows);                                        \
            } else {                                                                                                   \
                any_column_##OUT_TYPE(requantize, multiplier, addend, out, rows, sums);                                \
            }                                                                                                          \
            multiplier += requantize->multiplier_column;                                                               \
            addend += requantize->addend_column;                                                                       \
            sums++;                                                                                                    \
            out++;                                                                                                     \
        }                                                                                                              \
    }

#endif
