/*
 * Sums of blocks of four columns of byte products, four products at a time, for gemm_integer.c. Rows of left are
 * contiguous, and so are columns of right.
 */
#ifndef PARTITA_GEMM_BYTES_H
#define PARTITA_GEMM_BYTES_H

#include "gemm_blocks.h"
#include "simd.h"

/*
 * The word at which a core begins its sums, two words before the previous core's: so cores read from different banks, where
 * rows and columns begin in the same one. Cores with higher numbers leave a barrier first, and the others' banks may come
 * nearer to theirs by some cycles before two of them meet; the other way around, the last core would soon meet the first.
 */
static inline int32_t partita_first_word(int32_t words, int32_t core)
{
    const int32_t turn = ~core & 7;
    return words >= 16 ? 2 * turn : turn * words >> 3;
}

/*
 * Sums by four contiguous columns, which are `stride` bytes apart, over `count` words, at least one:
 * PARTITA_MULTIPLY_BLOCKS: of `blocks` times four rows, at least once, added to what each column begins with. Rows are
 * `stride` bytes apart, those of out `out_row` elements.
 * PARTITA_MULTIPLY_FOUR: of a row, from word `first` on and then from the beginning, added to what columns begin with, if that
 * isn't null.
 * PARTITA_MULTIPLY_ROW: the same for `columns` columns, a multiple of four; eight at a time share a load of the row.
 * PARTITA_MULTIPLY_PAIR: the same of two rows, `left_row` bytes apart, whose sums are `sums_row` apart.
 */
#ifdef PARTITA_XPULP

/*
 * Loads are apart from each other, as cores that load from the same bank in the same cycle wait: rows and columns often
 * have the same bank for the same word. So each word of the columns is loaded when the previous one is done with, and
 * at last the words after the columns and after the first row, which nothing uses: L1 doesn't end with data. Sums and
 * operands take all registers, so what blocks need is in memory. The inner loop begins a line of the instruction cache.
 */
#define PARTITA_MULTIPLY_BLOCKS(NAME, DOT, INSTRUCTION)                                                                \
    static __attribute__((noinline)) void NAME(const uint8_t *left, const uint8_t *right, int32_t stride,              \
                                               int32_t count, const int32_t begin[PARTITA_BLOCK], int32_t *out,        \
                                               int32_t out_row, int32_t blocks)                                        \
    {                                                                                                                  \
        struct {                                                                                                       \
            const uint8_t *left; /* the block's rows */                                                                \
            const uint8_t *right;                                                                                      \
            const int32_t *begin;                                                                                      \
            int32_t *out; /* the block's results */                                                                    \
            int32_t out_row;                                                                                           \
            int32_t count;                                                                                             \
            int32_t blocks;                                                                                            \
        } near = {left, right, begin, out, 4 * out_row, count, blocks};                                                \
        const uint8_t *row;                                                                                            \
        const uint8_t *column;                                                                                         \
        uint32_t s00, s01, s02, s03, s10, s11, s12, s13, s20, s21, s22, s23, s30, s31, s32, s33;                       \
        uint32_t x, next, y0, y1, y2, y3;                                                                              \
        __asm__("lw %[x], 24 + %[near]\n"                                                                              \
                ".p2align 4\n"                                                                                         \
                ".option push\n"                                                                                       \
                ".option norvc\n"                                                                                      \
                "nop\n lp.setup 1, %[x], 77\n"                                                                               \
                "lw %[left], %[near]\n lw %[right], 4 + %[near]\n lw %[x], 8 + %[near]\n"                              \
                "lw %[s00], 0(%[x])\n lw %[s01], 4(%[x])\n lw %[s02], 8(%[x])\n lw %[s03], 12(%[x])\n"                 \
                "mv %[s10], %[s00]\n mv %[s11], %[s01]\n mv %[s12], %[s02]\n mv %[s13], %[s03]\n"                      \
                "mv %[s20], %[s00]\n mv %[s21], %[s01]\n mv %[s22], %[s02]\n mv %[s23], %[s03]\n"                      \
                "mv %[s30], %[s00]\n mv %[s31], %[s01]\n mv %[s32], %[s02]\n mv %[s33], %[s03]\n"                      \
                "lw %[next], 20 + %[near]\n"                                                                           \
                "p.lw %[x], %[left], %[stride]\n"                                                                      \
                "p.lw %[y0], %[right], %[stride]\n"                                                                    \
                "p.lw %[y1], %[right], %[stride]\n"                                                                    \
                "p.lw %[y2], %[right], %[stride]\n"                                                                    \
                "p.lw %[y3], %[right], %[on]\n"                                                                        \
                "lp.setup 0, %[next], 24\n"                                                                            \
                INSTRUCTION " %[s00], %[x], %[y0]\n"                                                                   \
                "p.lw %[next], %[left], %[stride]\n"                                                                   \
                INSTRUCTION " %[s01], %[x], %[y1]\n"                                                                   \
                INSTRUCTION " %[s02], %[x], %[y2]\n"                                                                   \
                INSTRUCTION " %[s03], %[x], %[y3]\n"                                                                   \
                "p.lw %[x], %[left], %[stride]\n"                                                                      \
                INSTRUCTION " %[s10], %[next], %[y0]\n"                                                                \
                INSTRUCTION " %[s11], %[next], %[y1]\n"                                                                \
                INSTRUCTION " %[s12], %[next], %[y2]\n"                                                                \
                INSTRUCTION " %[s13], %[next], %[y3]\n"                                                                \
                INSTRUCTION " %[s20], %[x], %[y0]\n"                                                                   \
                "p.lw %[next], %[left], %[on]\n"                                                                       \
                INSTRUCTION " %[s21], %[x], %[y1]\n"                                                                   \
                INSTRUCTION " %[s22], %[x], %[y2]\n"                                                                   \
                INSTRUCTION " %[s23], %[x], %[y3]\n"                                                                   \
                "p.lw %[x], %[left], %[stride]\n"                                                                      \
                INSTRUCTION " %[s30], %[next], %[y0]\n"                                                                \
                "p.lw %[y0], %[right], %[stride]\n"                                                                    \
                INSTRUCTION " %[s31], %[next], %[y1]\n"                                                                \
                "p.lw %[y1], %[right], %[stride]\n"                                                                    \
                INSTRUCTION " %[s32], %[next], %[y2]\n"                                                                \
                "p.lw %[y2], %[right], %[stride]\n"                                                                    \
                INSTRUCTION " %[s33], %[next], %[y3]\n"                                                                \
                "p.lw %[y3], %[right], %[on]\n"                                                                        \
                "lp.end 0\n"                                                                                           \
                "lw %[x], 12 + %[near]\n lw %[y0], 16 + %[near]\n lw %[y1], %[near]\n"                                 \
                "slli %[y2], %[stride], 2\n sw %[s00], 0(%[x])\n sw %[s01], 4(%[x])\n"                                 \
                "sw %[s02], 8(%[x])\n sw %[s03], 12(%[x])\n add %[x], %[x], %[y0]\n sw %[s10], 0(%[x])\n"              \
                "sw %[s11], 4(%[x])\n sw %[s12], 8(%[x])\n sw %[s13], 12(%[x])\n add %[x], %[x], %[y0]\n"              \
                "sw %[s20], 0(%[x])\n sw %[s21], 4(%[x])\n sw %[s22], 8(%[x])\n sw %[s23], 12(%[x])\n"                 \
                "add %[x], %[x], %[y0]\n sw %[s30], 0(%[x])\n sw %[s31], 4(%[x])\n sw %[s32], 8(%[x])\n"               \
                "sw %[s33], 12(%[x])\n add %[x], %[x], %[y0]\n add %[y1], %[y1], %[y2]\n"                              \
                "sw %[y1], %[near]\n sw %[x], 12 + %[near]\n"                                                          \
                "lp.end 1\n"                                                                                           \
                ".option pop\n"                                                                                        \
                : [s00] "=&r"(s00), [s01] "=&r"(s01), [s02] "=&r"(s02), [s03] "=&r"(s03), [s10] "=&r"(s10),            \
                  [s11] "=&r"(s11), [s12] "=&r"(s12), [s13] "=&r"(s13), [s20] "=&r"(s20), [s21] "=&r"(s21),            \
                  [s22] "=&r"(s22), [s23] "=&r"(s23), [s30] "=&r"(s30), [s31] "=&r"(s31), [s32] "=&r"(s32),            \
                  [s33] "=&r"(s33), [y0] "=&r"(y0), [y1] "=&r"(y1), [y2] "=&r"(y2), [y3] "=&r"(y3), [x] "=&r"(x),      \
                  [next] "=&r"(next), [left] "=&r"(row), [right] "=&r"(column), [near] "+m"(near)                      \
                : [stride] "r"(stride), [on] "r"(4 - 3 * stride)                                                       \
                : "memory");                                                                                           \
    }

#define PARTITA_MULTIPLY_FOUR(NAME, DOT, INSTRUCTION)                                                                  \
    PARTITA_INLINE void NAME(const uint8_t *left, const uint8_t *right, int32_t stride, int32_t first, int32_t count,  \
                             const int32_t *begin, uint32_t sums[PARTITA_BLOCK])                                       \
    {                                                                                                                  \
        const int32_t on = 4 - 3 * stride;                                                                             \
        const int32_t word = 4;                                                                                        \
        uint32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, x, y0, y1, y2, y3;                                                    \
        if (begin != 0) {                                                                                              \
            s0 = (uint32_t)begin[0], s1 = (uint32_t)begin[1], s2 = (uint32_t)begin[2], s3 = (uint32_t)begin[3];        \
        }                                                                                                              \
        left += 4 * first;                                                                                             \
        right += 4 * first;                                                                                            \
        for (int32_t words = count - first; words > 0;) {                                                              \
            __asm__(".p2align 2\n"                                                                                     \
                    ".option push\n"                                                                                   \
                    ".option norvc\n"                                                                                  \
                    "lp.setup 0, %[words], 9\n"                                                                        \
                    "p.lw %[x], %[left], %[word]\n"                                                                    \
                    "p.lw %[y0], %[right], %[stride]\n"                                                                \
                    "p.lw %[y1], %[right], %[stride]\n"                                                                \
                    "p.lw %[y2], %[right], %[stride]\n"                                                                \
                    "p.lw %[y3], %[right], %[on]\n"                                                                    \
                    INSTRUCTION " %[s0], %[x], %[y0]\n"                                                                \
                    INSTRUCTION " %[s1], %[x], %[y1]\n"                                                                \
                    INSTRUCTION " %[s2], %[x], %[y2]\n"                                                                \
                    INSTRUCTION " %[s3], %[x], %[y3]\n"                                                                \
                    "lp.end 0\n"                                                                                       \
                    ".option pop\n"                                                                                    \
                    : [s0] "+r"(s0), [s1] "+r"(s1), [s2] "+r"(s2), [s3] "+r"(s3), [x] "=&r"(x), [y0] "=&r"(y0),        \
                      [y1] "=&r"(y1), [y2] "=&r"(y2), [y3] "=&r"(y3), [left] "+r"(left), [right] "+r"(right)           \
                    : [stride] "r"(stride), [on] "r"(on), [word] "r"(word), [words] "r"(words)                         \
                    : "memory");                                                                                       \
            left -= 4 * count;                                                                                         \
            right -= 4 * count;                                                                                        \
            words = first;                                                                                             \
            first = 0;                                                                                                 \
        }                                                                                                              \
        sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;                                                        \
    }

#define PARTITA_MULTIPLY_EIGHT(NAME, INSTRUCTION)                                                                      \
    PARTITA_INLINE void NAME(const uint8_t *left, const uint8_t *right, int32_t stride, int32_t first, int32_t count,  \
                             const int32_t *begin, uint32_t sums[2 * PARTITA_BLOCK])                                   \
    {                                                                                                                  \
        const int32_t on = 4 - 7 * stride;                                                                             \
        const int32_t word = 4;                                                                                        \
        uint32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0, x, y0, y1, y2;                        \
        if (begin != 0) {                                                                                              \
            s0 = (uint32_t)begin[0], s1 = (uint32_t)begin[1], s2 = (uint32_t)begin[2], s3 = (uint32_t)begin[3];        \
            s4 = (uint32_t)begin[4], s5 = (uint32_t)begin[5], s6 = (uint32_t)begin[6], s7 = (uint32_t)begin[7];        \
        }                                                                                                              \
        left += 4 * first;                                                                                             \
        right += 4 * first;                                                                                            \
        for (int32_t words = count - first; words > 0;) {                                                              \
            __asm__(".p2align 2\n"                                                                                     \
                    ".option push\n"                                                                                   \
                    ".option norvc\n"                                                                                  \
                    "lp.setup 0, %[words], 17\n"                                                                       \
                    "p.lw %[x], %[left], %[word]\n"                                                                    \
                    "p.lw %[y0], %[right], %[stride]\n"                                                                \
                    "p.lw %[y1], %[right], %[stride]\n"                                                                \
                    INSTRUCTION " %[s0], %[x], %[y0]\n"                                                                \
                    "p.lw %[y2], %[right], %[stride]\n"                                                                \
                    INSTRUCTION " %[s1], %[x], %[y1]\n"                                                                \
                    "p.lw %[y0], %[right], %[stride]\n"                                                                \
                    INSTRUCTION " %[s2], %[x], %[y2]\n"                                                                \
                    "p.lw %[y1], %[right], %[stride]\n"                                                                \
                    INSTRUCTION " %[s3], %[x], %[y0]\n"                                                                \
                    "p.lw %[y2], %[right], %[stride]\n"                                                                \
                    INSTRUCTION " %[s4], %[x], %[y1]\n"                                                                \
                    "p.lw %[y0], %[right], %[stride]\n"                                                                \
                    INSTRUCTION " %[s5], %[x], %[y2]\n"                                                                \
                    "p.lw %[y1], %[right], %[on]\n"                                                                    \
                    INSTRUCTION " %[s6], %[x], %[y0]\n"                                                                \
                    INSTRUCTION " %[s7], %[x], %[y1]\n"                                                                \
                    "lp.end 0\n"                                                                                       \
                    ".option pop\n"                                                                                    \
                    : [s0] "+r"(s0), [s1] "+r"(s1), [s2] "+r"(s2), [s3] "+r"(s3), [s4] "+r"(s4), [s5] "+r"(s5),        \
                      [s6] "+r"(s6), [s7] "+r"(s7), [x] "=&r"(x), [y0] "=&r"(y0), [y1] "=&r"(y1), [y2] "=&r"(y2),      \
                      [left] "+r"(left), [right] "+r"(right)                                                           \
                    : [stride] "r"(stride), [on] "r"(on), [word] "r"(word), [words] "r"(words)                         \
                    : "memory");                                                                                       \
            left -= 4 * count;                                                                                         \
            right -= 4 * count;                                                                                        \
            words = first;                                                                                             \
            first = 0;                                                                                                 \
        }                                                                                                              \
        sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;                                                        \
        sums[4] = s4, sums[5] = s5, sums[6] = s6, sums[7] = s7;                                                        \
    }

#define PARTITA_MULTIPLY_ROW(NAME, DOT, INSTRUCTION)                                                                   \
    PARTITA_MULTIPLY_FOUR(NAME##_by_four, DOT, INSTRUCTION)                                                            \
    PARTITA_MULTIPLY_EIGHT(NAME##_by_eight, INSTRUCTION)                                                               \
                                                                                                                       \
    static __attribute__((noinline)) void NAME(const uint8_t *left, const uint8_t *right, int32_t stride,              \
                                               int32_t first, int32_t count, const int32_t *begin, uint32_t *sums,     \
                                               int32_t columns)                                                        \
    {                                                                                                                  \
        for (; columns >= 2 * PARTITA_BLOCK; columns -= 2 * PARTITA_BLOCK) {                                           \
            NAME##_by_eight(left, right, stride, first, count, begin, sums);                                           \
            right += 2 * PARTITA_BLOCK * stride;                                                                       \
            begin += begin == 0 ? 0 : 2 * PARTITA_BLOCK;                                                               \
            sums += 2 * PARTITA_BLOCK;                                                                                 \
        }                                                                                                              \
        if (columns > 0) {                                                                                             \
            NAME##_by_four(left, right, stride, first, count, begin, sums);                                            \
        }                                                                                                              \
    }

#define PARTITA_MULTIPLY_PAIR(NAME, DOT, INSTRUCTION)                                                                  \
    PARTITA_INLINE void NAME##_by_four(const uint8_t *left, int32_t left_row, const uint8_t *right, int32_t stride,    \
                                       int32_t first, int32_t count, const int32_t *begin, uint32_t *sums,             \
                                       int32_t sums_row)                                                               \
    {                                                                                                                  \
        const int32_t on = 4 - 3 * stride;                                                                             \
        uint32_t s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10, s11, s12, s13, x, z, y0, y1, y2;                             \
        if (begin != 0) {                                                                                              \
            s00 = (uint32_t)begin[0], s01 = (uint32_t)begin[1], s02 = (uint32_t)begin[2], s03 = (uint32_t)begin[3];    \
        }                                                                                                              \
        s10 = s00, s11 = s01, s12 = s02, s13 = s03;                                                                    \
        left += 4 * first;                                                                                             \
        right += 4 * first;                                                                                            \
        for (int32_t words = count - first; words > 0;) {                                                              \
            __asm__(".p2align 2\n"                                                                                     \
                    ".option push\n"                                                                                   \
                    ".option norvc\n"                                                                                  \
                    "lp.setup 0, %[words], 14\n"                                                                       \
                    "p.lw %[x], %[left], %[left_row]\n"                                                                \
                    "p.lw %[y0], %[right], %[stride]\n"                                                                \
                    "p.lw %[z], %[left], %[back]\n"                                                                    \
                    "p.lw %[y1], %[right], %[stride]\n"                                                                \
                    INSTRUCTION " %[s00], %[x], %[y0]\n"                                                               \
                    "p.lw %[y2], %[right], %[stride]\n"                                                                \
                    INSTRUCTION " %[s10], %[z], %[y0]\n"                                                               \
                    "p.lw %[y0], %[right], %[on]\n"                                                                    \
                    INSTRUCTION " %[s01], %[x], %[y1]\n"                                                               \
                    INSTRUCTION " %[s11], %[z], %[y1]\n"                                                               \
                    INSTRUCTION " %[s02], %[x], %[y2]\n"                                                               \
                    INSTRUCTION " %[s12], %[z], %[y2]\n"                                                               \
                    INSTRUCTION " %[s03], %[x], %[y0]\n"                                                               \
                    INSTRUCTION " %[s13], %[z], %[y0]\n"                                                               \
                    "lp.end 0\n"                                                                                       \
                    ".option pop\n"                                                                                    \
                    : [s00] "+r"(s00), [s01] "+r"(s01), [s02] "+r"(s02), [s03] "+r"(s03), [s10] "+r"(s10),             \
                      [s11] "+r"(s11), [s12] "+r"(s12), [s13] "+r"(s13), [x] "=&r"(x), [z] "=&r"(z), [y0] "=&r"(y0),   \
                      [y1] "=&r"(y1), [y2] "=&r"(y2), [left] "+r"(left), [right] "+r"(right)                           \
                    : [left_row] "r"(left_row), [back] "r"(4 - left_row), [stride] "r"(stride), [on] "r"(on),          \
                      [words] "r"(words)                                                                               \
                    : "memory");                                                                                       \
            left -= 4 * count;                                                                                         \
            right -= 4 * count;                                                                                        \
            words = first;                                                                                             \
            first = 0;                                                                                                 \
        }                                                                                                              \
        PARTITA_STORE_ROW(sums, s00, s01, s02, s03);                                                                   \
        PARTITA_STORE_ROW(sums + sums_row, s10, s11, s12, s13);                                                        \
    }                                                                                                                  \
                                                                                                                       \
    static __attribute__((noinline)) void NAME(const uint8_t *left, int32_t left_row, const uint8_t *right,            \
                                               int32_t stride, int32_t first, int32_t count, const int32_t *begin,     \
                                               uint32_t *sums, int32_t sums_row, int32_t columns)                      \
    {                                                                                                                  \
        for (; columns > 0; columns -= PARTITA_BLOCK) {                                                                \
            NAME##_by_four(left, left_row, right, stride, first, count, begin, sums, sums_row);                        \
            right += PARTITA_BLOCK * stride;                                                                           \
            begin += begin == 0 ? 0 : PARTITA_BLOCK;                                                                   \
            sums += PARTITA_BLOCK;                                                                                     \
        }                                                                                                              \
    }

#else

#define PARTITA_MULTIPLY_FOUR(NAME, DOT, INSTRUCTION)                                                                  \
    static void NAME(const uint8_t *left, const uint8_t *right, int32_t stride, int32_t first, int32_t count,          \
                     const int32_t *begin, uint32_t sums[PARTITA_BLOCK])                                               \
    {                                                                                                                  \
        for (int32_t j = 0; j < PARTITA_BLOCK; j++) {                                                                  \
            sums[j] = begin == 0 ? 0 : (uint32_t)begin[j];                                                             \
            for (int32_t word = 0; word < count; word++) {                                                             \
                const int32_t at = 4 * (word + first < count ? word + first : word + first - count);                   \
                const uint8_t *x = left + at;                                                                          \
                const uint8_t *y = right + j * stride + at;                                                            \
                sums[j] = DOT(sums[j], partita_next_word(&x, 4), partita_next_word(&y, 4));                            \
            }                                                                                                          \
        }                                                                                                              \
    }

#define PARTITA_MULTIPLY_ROW(NAME, DOT, INSTRUCTION)                                                                   \
    PARTITA_MULTIPLY_FOUR(NAME##_by_four, DOT, INSTRUCTION)                                                            \
                                                                                                                       \
    static void NAME(const uint8_t *left, const uint8_t *right, int32_t stride, int32_t first, int32_t count,          \
                     const int32_t *begin, uint32_t *sums, int32_t columns)                                            \
    {                                                                                                                  \
        for (int32_t j = 0; j < columns; j += PARTITA_BLOCK) {                                                         \
            NAME##_by_four(left, right + j * stride, stride, first, count, begin == 0 ? 0 : begin + j, sums + j);      \
        }                                                                                                              \
    }

#define PARTITA_MULTIPLY_PAIR(NAME, DOT, INSTRUCTION)                                                                  \
    PARTITA_MULTIPLY_ROW(NAME##_row, DOT, INSTRUCTION)                                                                 \
                                                                                                                       \
    static void NAME(const uint8_t *left, int32_t left_row, const uint8_t *right, int32_t stride, int32_t first,       \
                     int32_t count, const int32_t *begin, uint32_t *sums, int32_t sums_row, int32_t columns)           \
    {                                                                                                                  \
        NAME##_row(left, right, stride, first, count, begin, sums, columns);                                           \
        NAME##_row(left + left_row, right, stride, first, count, begin, sums + sums_row, columns);                     \
    }

#define PARTITA_MULTIPLY_BLOCKS(NAME, DOT, INSTRUCTION)                                                                \
    static void NAME(const uint8_t *left, const uint8_t *right, int32_t stride, int32_t count,                         \
                     const int32_t begin[PARTITA_BLOCK], int32_t *out, int32_t out_row, int32_t blocks)                \
    {                                                                                                                  \
        for (int32_t i = 0; i < PARTITA_BLOCK * blocks; i++) {                                                         \
            for (int32_t j = 0; j < PARTITA_BLOCK; j++) {                                                              \
                const uint8_t *row = left + i * stride;                                                                \
                const uint8_t *column = right + j * stride;                                                            \
                uint32_t sum = (uint32_t)begin[j];                                                                     \
                for (int32_t word = 0; word < count; word++) {                                                         \
                    sum = DOT(sum, partita_next_word(&row, 4), partita_next_word(&column, 4));                         \
                }                                                                                                      \
                out[i * out_row + j] = (int32_t)sum;                                                                   \
            }                                                                                                          \
        }                                                                                                              \
    }

#endif

#endif
