/* Requantises the sums of blocks of a matrix product, for gemm_integer.c. */
#ifndef PARTITA_GEMM_REQUANTIZED_H
#define PARTITA_GEMM_REQUANTIZED_H

#include "gemm_blocks.h"
#include "levels.h"
#include "requantized.h"

/*
 * Factors and last terms of the sums of levels of four columns, from `column` on: x multiplier / 2^shift, and (addend +
 * 2^shift / 2) / 2^shift, as partita_level_bytes wants them. Below 320, beyond which bytes are clamped, x, multiplier and
 * product are off by 3.75 of the last digits together, the last term by 0.5, the sum by 1, and by 1 as it is truncated.
 */
struct partita_quad {
    float factors[PARTITA_BLOCK];
    float bases[PARTITA_BLOCK];
    uint32_t least;
    uint32_t most;
    int32_t column;
    int32_t exists;
};

/*
 * The least shift with quads: with fewer digits, sums often are between two levels. And the least number of rows: fewer take
 * less time than longer code that isn't in the cache.
 */
enum { PARTITA_QUAD_SHIFT = 16, PARTITA_QUAD_ROWS = 8 };

/* Sets a quad, which exists if multipliers and addends are per column or shared, and addends below 64. */
static PARTITA_COMPACT void set_quad(const struct partita_gemm_requantize *requantize, int32_t column,
                                     struct partita_quad *quad)
{
    const int32_t shift = requantize->shift;
    const float unit = partita_from_bits((uint32_t)(127 - shift) << 23) * PARTITA_LEVEL_ONE;
    const int32_t *multiplier = requantize->multiplier + column * requantize->multiplier_column;
    const int32_t *addend = requantize->addend + column * requantize->addend_column;
    int32_t largest = 0;
    for (int32_t j = 0; j < PARTITA_BLOCK; j++) {
        quad->factors[j] = (float)*multiplier * unit;
        quad->bases[j] = (float)*addend * unit + PARTITA_LEVEL_BASE;
        largest |= *addend ^ *addend >> 31;
        multiplier += requantize->multiplier_column;
        addend += requantize->addend_column;
    }
    quad->least = PARTITA_BOTH_LEVELS(requantize->low);
    quad->most = PARTITA_BOTH_LEVELS(requantize->high);
    quad->column = column;
    quad->exists = shift >= PARTITA_QUAD_SHIFT && largest >> (shift < 31 ? shift : 31) < 64 &&
                   requantize->low >= -256 && requantize->high <= 255 &&
                   (requantize->multiplier_row | requantize->addend_row) == 0;
}

/*
 * PARTITA_REQUANTIZED(OUT_TYPE, OUT, STORE): columns_OUT_TYPE, which requantises the sums of a block's columns, in `rows`
 * rows of PARTITA_BLOCK, at least one, to elements OUT, which the instruction STORE stores. A single row may have more
 * columns; with a shared scale it is requantised like a column. Multipliers and addends per column or shared have short code.
 */
#define PARTITA_REQUANTIZED(OUT_TYPE, OUT, STORE)                                                                      \
    PARTITA_REQUANTIZE_COLUMN(column_##OUT_TYPE, OUT, STORE)                                                           \
    PARTITA_REQUANTIZE_ROW(by_columns_##OUT_TYPE, OUT, STORE)                                                          \
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
    static PARTITA_COMPACT void columns_##OUT_TYPE(const struct partita_gemm_requantize *requantize,                   \
                                                   const struct partita_block *block, OUT *out, int32_t rows,          \
                                                   const uint32_t *sums)                                               \
    {                                                                                                                  \
        const int32_t *multiplier = requantize->multiplier + block->row * requantize->multiplier_row +                 \
                                    block->column * requantize->multiplier_column;                                     \
        const int32_t *addend = requantize->addend + block->row * requantize->addend_row +                             \
                                block->column * requantize->addend_column;                                             \
        const int32_t is_short =                                                                                       \
            requantize->shift >= 2 && (requantize->multiplier_row | requantize->addend_row) == 0;                      \
        const int32_t out_row = requantize->gemm.out_row;                                                              \
        struct partita_upper to = partita_upper(requantize->shift, requantize->low, requantize->high);                 \
        const int32_t is_shared = (requantize->multiplier_column | requantize->addend_column) == 0;                    \
        if (rows == 1 && is_shared && is_short && partita_set_upper(&to, *multiplier, *addend)) {                      \
            column_##OUT_TYPE(to, sums, 1, out, 1, block->columns);                                                    \
            return;                                                                                                    \
        }                                                                                                              \
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

/*
 * PARTITA_REQUANTIZED_BYTES(OUT_TYPE, OUT): requantized_OUT_TYPE, which does the same for a block, with the quad of a core's
 * last columns. If one of its levels may not be right, all are computed exactly.
 */
#define PARTITA_REQUANTIZED_BYTES(OUT_TYPE, OUT)                                                                       \
    /*                                                                                                                 \
     * Requantises rows by floats; false if a level may not be right. A row at a time, since cores fetch code slower than\
     * they execute it.                                                                                                \
     */                                                                                                                \
    static PARTITA_STAGED int32_t try_rows_##OUT_TYPE(const struct partita_quad *quad, const uint32_t *sums,           \
                                                      int32_t rows, OUT *out, int32_t out_row)                         \
    {                                                                                                                  \
        const struct partita_quad own = *quad;                                                                         \
        uint8_t *bytes = (uint8_t *)out;                                                                               \
        uint32_t digits = (uint32_t)PARTITA_NO_DIGITS;                                                                 \
        for (const uint32_t *end = sums + rows * PARTITA_BLOCK; sums != end; sums += PARTITA_BLOCK) {                  \
            int32_t integers[PARTITA_BLOCK];                                                                           \
            float values[PARTITA_BLOCK];                                                                               \
            PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_BLOCK; i++) {                                                 \
                integers[i] = (int32_t)sums[i];                                                                        \
            }                                                                                                          \
            PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_BLOCK; i++) {                                                 \
                values[i] = (float)integers[i];                                                                        \
            }                                                                                                          \
            PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_BLOCK; i++) {                                                 \
                values[i] = values[i] * own.factors[i] + own.bases[i];                                                 \
            }                                                                                                          \
            partita_store_word(&bytes, out_row, partita_level_bytes(values, own.least, own.most, &digits));            \
        }                                                                                                              \
        return partita_are_right(digits);                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static PARTITA_COMPACT void requantized_##OUT_TYPE(const struct partita_gemm_requantize *requantize,               \
                                                       const struct partita_block *block, OUT *out, int32_t rows,      \
                                                       const uint32_t *sums, struct partita_quad *quad)                \
    {                                                                                                                  \
        if (rows >= PARTITA_QUAD_ROWS && block->columns == PARTITA_BLOCK) {                                            \
            if (quad->column != block->column) {                                                                       \
                set_quad(requantize, block->column, quad);                                                             \
            }                                                                                                          \
            if (quad->exists && try_rows_##OUT_TYPE(quad, sums, rows, out, requantize->gemm.out_row)) {                \
                return;                                                                                                \
            }                                                                                                          \
        }                                                                                                              \
        columns_##OUT_TYPE(requantize, block, out, rows, sums);                                                        \
    }

#endif
