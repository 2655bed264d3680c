/*
 * Sums of blocks of four columns of byte products, four products at a time, for gemm_integer.c. Rows of left are
 * contiguous. So are columns of right, or its rows, which are then transposed in registers.
 */
#ifndef PARTITA_GEMM_BYTES_H
#define PARTITA_GEMM_BYTES_H

#include "gemm_blocks.h"
#include "simd.h"

/* Transposes rows of bytes into columns. */
static inline void turn(uint32_t words[PARTITA_BLOCK])
{
    const uint32_t lower = 0x05010400; /* bytes 0 and 1 of both words, in turns */
    const uint32_t upper = 0x07030602;
    const uint32_t halves = 0x07060302; /* the upper halves of both words */
    const uint32_t low_01 = partita_shuffle2_b(words[0], words[1], lower);
    const uint32_t high_01 = partita_shuffle2_b(words[0], words[1], upper);
    const uint32_t low_23 = partita_shuffle2_b(words[2], words[3], lower);
    const uint32_t high_23 = partita_shuffle2_b(words[2], words[3], upper);
    words[0] = partita_pack_h(low_23, low_01);
    words[1] = partita_shuffle2_b(low_01, low_23, halves);
    words[2] = partita_pack_h(high_23, high_01);
    words[3] = partita_shuffle2_b(high_01, high_23, halves);
}

/*
 * The sums of ROWS rows by four columns over `count` words, where right has contiguous rows, `right_row` bytes apart. A
 * separate function has enough registers for 16 sums.
 */
#define PARTITA_MULTIPLY_TURNED(NAME, ROWS, DOT)                                                                       \
    static PARTITA_IN_ORDER void NAME(const uint8_t *left, int32_t left_row, const uint8_t *right, int32_t right_row,  \
                                      int32_t count, uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])                      \
    {                                                                                                                  \
        const int32_t left_on = 4 - (ROWS - 1) * left_row;                                                             \
        uint32_t own[PARTITA_BLOCK][PARTITA_BLOCK] = {{0}};                                                            \
        _Pragma("GCC unroll 2")                                                                                        \
        for (; count > 0; count--) {                                                                                   \
            uint32_t y[PARTITA_BLOCK];                                                                                 \
            _Pragma("GCC unroll 4")                                                                                    \
            for (int32_t j = 0; j < PARTITA_BLOCK; j++) {                                                              \
                y[j] = partita_next_word(&right, right_row);                                                           \
            }                                                                                                          \
            uint32_t next = partita_next_word(&left, ROWS > 1 ? left_row : left_on);                                   \
            turn(y);                                                                                                   \
            _Pragma("GCC unroll 4")                                                                                    \
            for (int32_t i = 0; i < ROWS; i++) {                                                                       \
                const uint32_t x = next;                                                                               \
                if (i + 1 < ROWS) {                                                                                    \
                    next = partita_next_word(&left, i + 2 < ROWS ? left_row : left_on);                                \
                }                                                                                                      \
                _Pragma("GCC unroll 4")                                                                                \
                for (int32_t j = 0; j < PARTITA_BLOCK; j++) {                                                          \
                    own[i][j] = DOT(own[i][j], x, y[j]);                                                               \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        _Pragma("GCC unroll 4")                                                                                        \
        for (int32_t i = 0; i < ROWS; i++) {                                                                           \
            _Pragma("GCC unroll 4")                                                                                    \
            for (int32_t j = 0; j < PARTITA_BLOCK; j++) {                                                              \
                sums[i][j] = own[i][j];                                                                                \
            }                                                                                                          \
        }                                                                                                              \
    }

/*
 * PARTITA_MULTIPLY_ROW: the sums of a row by four contiguous columns, `stride` bytes apart, over `count` words, from
 * word `first` on and then from the beginning.
 *
 * PARTITA_MULTIPLY_COLUMNS_4 and _1: the sums of four rows, or of one, by four columns over `count` words, at least one.
 * The rows of left, and the columns of right, are `stride` bytes apart.
 */
#ifdef PARTITA_XPULP

#define PARTITA_MULTIPLY_COLUMNS_4(NAME, DOT, INSTRUCTION)                                                             \
    static inline __attribute__((always_inline)) void NAME(const uint8_t *left, const uint8_t *right, int32_t stride,  \
                                               int32_t count, uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])             \
    {                                                                                                                  \
        const int32_t on = 4 - 3 * stride;                                                                             \
        uint32_t s00, s01, s02, s03, s10, s11, s12, s13, s20, s21, s22, s23, s30, s31, s32, s33;                       \
        uint32_t x, y0, y1, y2, y3;                                                                                    \
        __asm__("li %[s00], 0\n li %[s01], 0\n li %[s02], 0\n li %[s03], 0\n"                                          \
                "li %[s10], 0\n li %[s11], 0\n li %[s12], 0\n li %[s13], 0\n"                                          \
                "li %[s20], 0\n li %[s21], 0\n li %[s22], 0\n li %[s23], 0\n"                                          \
                "li %[s30], 0\n li %[s31], 0\n li %[s32], 0\n li %[s33], 0\n"                                          \
                ".p2align 2\n"                                                                                         \
                ".option push\n"                                                                                       \
                ".option norvc\n"                                                                                      \
                "lp.setup 0, %[next], 24\n"                                                                            \
                "p.lw %[x], %[left], %[stride]\n"                                                                      \
                "p.lw %[y0], %[right], %[stride]\n"                                                                    \
                "p.lw %[y1], %[right], %[stride]\n"                                                                    \
                "p.lw %[y2], %[right], %[stride]\n"                                                                    \
                "p.lw %[y3], %[right], %[on]\n"                                                                        \
                "p.lw %[next], %[left], %[stride]\n"                                                                   \
                INSTRUCTION " %[s00], %[x], %[y0]\n"                                                                   \
                INSTRUCTION " %[s01], %[x], %[y1]\n"                                                                   \
                INSTRUCTION " %[s02], %[x], %[y2]\n"                                                                   \
                INSTRUCTION " %[s03], %[x], %[y3]\n"                                                                   \
                "p.lw %[x], %[left], %[stride]\n"                                                                      \
                INSTRUCTION " %[s10], %[next], %[y0]\n"                                                                \
                INSTRUCTION " %[s11], %[next], %[y1]\n"                                                                \
                INSTRUCTION " %[s12], %[next], %[y2]\n"                                                                \
                INSTRUCTION " %[s13], %[next], %[y3]\n"                                                                \
                "p.lw %[next], %[left], %[on]\n"                                                                       \
                INSTRUCTION " %[s20], %[x], %[y0]\n"                                                                   \
                INSTRUCTION " %[s21], %[x], %[y1]\n"                                                                   \
                INSTRUCTION " %[s22], %[x], %[y2]\n"                                                                   \
                INSTRUCTION " %[s23], %[x], %[y3]\n"                                                                   \
                INSTRUCTION " %[s30], %[next], %[y0]\n"                                                                \
                INSTRUCTION " %[s31], %[next], %[y1]\n"                                                                \
                INSTRUCTION " %[s32], %[next], %[y2]\n"                                                                \
                INSTRUCTION " %[s33], %[next], %[y3]\n"                                                                \
                ".option pop\n"                                                                                        \
                : [s00] "=&r"(s00), [s01] "=&r"(s01), [s02] "=&r"(s02), [s03] "=&r"(s03), [s10] "=&r"(s10),            \
                  [s11] "=&r"(s11), [s12] "=&r"(s12), [s13] "=&r"(s13), [s20] "=&r"(s20), [s21] "=&r"(s21),            \
                  [s22] "=&r"(s22), [s23] "=&r"(s23), [s30] "=&r"(s30), [s31] "=&r"(s31), [s32] "=&r"(s32),            \
                  [s33] "=&r"(s33), [x] "=&r"(x), [y0] "=&r"(y0), [y1] "=&r"(y1), [y2] "=&r"(y2), [y3] "=&r"(y3),      \
                  [left] "+&r"(left), [right] "+&r"(right), [next] "+&r"(count)                                        \
                : [stride] "r"(stride), [on] "r"(on)                                                                   \
                : "memory");                                                                                           \
        uint32_t *out = sums[0];                                                                                       \
        out[0] = s00, out[1] = s01, out[2] = s02, out[3] = s03, out[4] = s10, out[5] = s11, out[6] = s12, out[7] = s13;\
        out[8] = s20, out[9] = s21, out[10] = s22, out[11] = s23;                                                      \
        out[12] = s30, out[13] = s31, out[14] = s32, out[15] = s33;                                                    \
    }

#define PARTITA_MULTIPLY_COLUMNS_1(NAME, DOT, INSTRUCTION)                                                             \
    static inline __attribute__((always_inline)) void NAME(const uint8_t *left, const uint8_t *right, int32_t stride,  \
                                               int32_t count, uint32_t sums[][PARTITA_BLOCK])                          \
    {                                                                                                                  \
        const int32_t on = 4 - 3 * stride;                                                                             \
        const int32_t word = 4;                                                                                        \
        uint32_t s0, s1, s2, s3, x, y0, y1, y2, y3;                                                                    \
        __asm__("li %[s0], 0\n li %[s1], 0\n li %[s2], 0\n li %[s3], 0\n"                                              \
                ".p2align 2\n"                                                                                         \
                ".option push\n"                                                                                       \
                ".option norvc\n"                                                                                      \
                "lp.setup 0, %[count], 9\n"                                                                            \
                "p.lw %[x], %[left], %[word]\n"                                                                        \
                "p.lw %[y0], %[right], %[stride]\n"                                                                    \
                "p.lw %[y1], %[right], %[stride]\n"                                                                    \
                "p.lw %[y2], %[right], %[stride]\n"                                                                    \
                "p.lw %[y3], %[right], %[on]\n"                                                                        \
                INSTRUCTION " %[s0], %[x], %[y0]\n"                                                                    \
                INSTRUCTION " %[s1], %[x], %[y1]\n"                                                                    \
                INSTRUCTION " %[s2], %[x], %[y2]\n"                                                                    \
                INSTRUCTION " %[s3], %[x], %[y3]\n"                                                                    \
                ".option pop\n"                                                                                        \
                : [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3), [x] "=&r"(x), [y0] "=&r"(y0),        \
                  [y1] "=&r"(y1), [y2] "=&r"(y2), [y3] "=&r"(y3), [left] "+&r"(left), [right] "+&r"(right)             \
                : [stride] "r"(stride), [on] "r"(on), [word] "r"(word), [count] "r"(count)                             \
                : "memory");                                                                                           \
        sums[0][0] = s0, sums[0][1] = s1, sums[0][2] = s2, sums[0][3] = s3;                                            \
    }

#define PARTITA_MULTIPLY_ROW(NAME, DOT, INSTRUCTION)                                                                   \
    static inline __attribute__((always_inline)) void NAME(const uint8_t *left, const uint8_t *right, int32_t stride,  \
                                                           int32_t first, int32_t count, uint32_t sums[PARTITA_BLOCK]) \
    {                                                                                                                  \
        const int32_t on = 4 - 3 * stride;                                                                             \
        const int32_t word = 4;                                                                                        \
        uint32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, x, y0, y1, y2, y3;                                                    \
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

#else

#define PARTITA_MULTIPLY_ROW(NAME, DOT, INSTRUCTION)                                                                   \
    static void NAME(const uint8_t *left, const uint8_t *right, int32_t stride, int32_t first, int32_t count,          \
                     uint32_t sums[PARTITA_BLOCK])                                                                     \
    {                                                                                                                  \
        for (int32_t j = 0; j < PARTITA_BLOCK; j++) {                                                                  \
            sums[j] = 0;                                                                                               \
            for (int32_t word = 0; word < count; word++) {                                                             \
                const int32_t at = 4 * (word + first < count ? word + first : word + first - count);                   \
                const uint8_t *x = left + at;                                                                          \
                const uint8_t *y = right + j * stride + at;                                                            \
                sums[j] = DOT(sums[j], partita_next_word(&x, 4), partita_next_word(&y, 4));                            \
            }                                                                                                          \
        }                                                                                                              \
    }

#define PARTITA_MULTIPLY_COLUMNS_4(NAME, DOT, INSTRUCTION) PARTITA_MULTIPLY_COLUMNS(NAME, 4, DOT)
#define PARTITA_MULTIPLY_COLUMNS_1(NAME, DOT, INSTRUCTION) PARTITA_MULTIPLY_COLUMNS(NAME, 1, DOT)

#define PARTITA_MULTIPLY_COLUMNS(NAME, ROWS, DOT)                                                                      \
    static void NAME(const uint8_t *left, const uint8_t *right, int32_t stride, int32_t count,                         \
                     uint32_t sums[][PARTITA_BLOCK])                                                                   \
    {                                                                                                                  \
        for (int32_t i = 0; i < ROWS; i++) {                                                                           \
            for (int32_t j = 0; j < PARTITA_BLOCK; j++) {                                                              \
                const uint8_t *row = left + i * stride;                                                                \
                const uint8_t *column = right + j * stride;                                                            \
                sums[i][j] = 0;                                                                                        \
                for (int32_t word = 0; word < count; word++) {                                                         \
                    sums[i][j] = DOT(sums[i][j], partita_next_word(&row, 4), partita_next_word(&column, 4));           \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

#endif

#endif
