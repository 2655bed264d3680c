/* The same sums as in gemm_bytes.h where right has contiguous rows: they are transposed in registers. */
#ifndef PARTITA_GEMM_TURNED_H
#define PARTITA_GEMM_TURNED_H

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
 * Sums by four columns over `count` words, at least one, where right has contiguous rows, `right_row` bytes apart:
 * PARTITA_MULTIPLY_TURNED_ROW: of a row. PARTITA_MULTIPLY_TURNED_BLOCK: of four rows, `left_row` bytes apart.
 */
#ifdef PARTITA_XPULP

/* With all registers but the stack's: columns are turned in place, and orders of bytes are loaded when they are needed. */
#define PARTITA_MULTIPLY_TURNED_BLOCK(NAME, DOT, INSTRUCTION)                                                          \
    static __attribute__((noinline)) void NAME(const uint8_t *left, int32_t left_row, const uint8_t *right,            \
                                               int32_t right_row, int32_t count,                                       \
                                               uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])                            \
    {                                                                                                                  \
        const int32_t on = 4 - 3 * left_row;                                                                           \
        const struct {                                                                                                 \
            uint32_t halves;                                                                                           \
            uint32_t odd; /* bytes 1 and 3 of both words, in turns */                                                  \
            const uint8_t *left;                                                                                       \
            int32_t count;                                                                                             \
        } near = {0x07060302, 0x07030501, left, count};                                                                \
        const uint8_t *row;                                                                                            \
        uint32_t s00, s01, s02, s03, s10, s11, s12, s13, s20, s21, s22, s23, s30, s31, s32, s33;                       \
        uint32_t x, y0, y1, y2, y3, z;                                                                                 \
        __asm__("lw %[left], 8 + %[near]\n lw %[x], 12 + %[near]\n"                                                    \
                "li %[s00], 0\n li %[s10], 0\n li %[s20], 0\n li %[s30], 0\n"                                          \
                "li %[s01], 0\n li %[s11], 0\n li %[s21], 0\n li %[s31], 0\n"                                          \
                "li %[s02], 0\n li %[s12], 0\n li %[s22], 0\n li %[s32], 0\n"                                          \
                "li %[s03], 0\n li %[s13], 0\n li %[s23], 0\n li %[s33], 0\n"                                          \
                ".p2align 2\n"                                                                                         \
                ".option push\n"                                                                                       \
                ".option norvc\n"                                                                                      \
                "lp.setup 0, %[x], 36\n"                                                                               \
                "p.lw %[y0], %[right], %[right_row]\n"                                                                 \
                "lw %[x], %[near]\n"                                                                                   \
                "p.lw %[y1], %[right], %[right_row]\n"                                                                 \
                "p.lw %[y2], %[right], %[right_row]\n"                                                                 \
                "p.lw %[y3], %[right], %[right_row]\n"                                                                 \
                "pv.pack.h %[z], %[y2], %[y0]\n"                                                                       \
                "pv.shuffle2.b %[y0], %[y2], %[x]\n"                                                                   \
                "pv.pack.h %[y2], %[y3], %[y1]\n"                                                                      \
                "pv.shuffle2.b %[y1], %[y3], %[x]\n"                                                                   \
                "lw %[x], 4 + %[near]\n"                                                                               \
                "mv %[y3], %[z]\n"                                                                                     \
                "pv.shuffle2.b %[y3], %[y2], %[even]\n"                                                                \
                "pv.shuffle2.b %[z], %[y2], %[x]\n"                                                                    \
                "mv %[y2], %[y0]\n"                                                                                    \
                "pv.shuffle2.b %[y2], %[y1], %[even]\n"                                                                \
                "pv.shuffle2.b %[y0], %[y1], %[x]\n"                                                                   \
                "p.lw %[x], %[left], %[left_row]\n"                                                                    \
                "p.lw %[y1], %[left], %[left_row]\n"                                                                   \
                INSTRUCTION " %[s00], %[x], %[y3]\n"                                                                   \
                INSTRUCTION " %[s01], %[x], %[z]\n"                                                                    \
                INSTRUCTION " %[s02], %[x], %[y2]\n"                                                                   \
                INSTRUCTION " %[s03], %[x], %[y0]\n"                                                                   \
                "p.lw %[x], %[left], %[left_row]\n"                                                                    \
                INSTRUCTION " %[s10], %[y1], %[y3]\n"                                                                  \
                INSTRUCTION " %[s11], %[y1], %[z]\n"                                                                   \
                INSTRUCTION " %[s12], %[y1], %[y2]\n"                                                                  \
                INSTRUCTION " %[s13], %[y1], %[y0]\n"                                                                  \
                "p.lw %[y1], %[left], %[on]\n"                                                                         \
                INSTRUCTION " %[s20], %[x], %[y3]\n"                                                                   \
                INSTRUCTION " %[s21], %[x], %[z]\n"                                                                    \
                INSTRUCTION " %[s22], %[x], %[y2]\n"                                                                   \
                INSTRUCTION " %[s23], %[x], %[y0]\n"                                                                   \
                INSTRUCTION " %[s30], %[y1], %[y3]\n"                                                                  \
                INSTRUCTION " %[s31], %[y1], %[z]\n"                                                                   \
                INSTRUCTION " %[s32], %[y1], %[y2]\n"                                                                  \
                INSTRUCTION " %[s33], %[y1], %[y0]\n"                                                                  \
                "lp.end 0\n"                                                                                           \
                ".option pop\n"                                                                                        \
                : [s00] "=&r"(s00), [s01] "=&r"(s01), [s02] "=&r"(s02), [s03] "=&r"(s03), [s10] "=&r"(s10),            \
                  [s11] "=&r"(s11), [s12] "=&r"(s12), [s13] "=&r"(s13), [s20] "=&r"(s20), [s21] "=&r"(s21),            \
                  [s22] "=&r"(s22), [s23] "=&r"(s23), [s30] "=&r"(s30), [s31] "=&r"(s31), [s32] "=&r"(s32),            \
                  [s33] "=&r"(s33), [y0] "=&r"(y0), [y1] "=&r"(y1), [y2] "=&r"(y2), [y3] "=&r"(y3), [z] "=&r"(z),      \
                  [x] "=&r"(x), [left] "=&r"(row), [right] "+&r"(right)                                                \
                : [left_row] "r"(left_row), [right_row] "r"(right_row), [on] "r"(on), [even] "r"(0x06020400),          \
                  [near] "m"(near)                                                                                     \
                : "memory");                                                                                           \
        PARTITA_STORE_ROW(sums[0], s00, s01, s02, s03);                                                                \
        PARTITA_STORE_ROW(sums[1], s10, s11, s12, s13);                                                                \
        PARTITA_STORE_ROW(sums[2], s20, s21, s22, s23);                                                                \
        PARTITA_STORE_ROW(sums[3], s30, s31, s32, s33);                                                                \
    }

#define PARTITA_MULTIPLY_TURNED_ROW(NAME, DOT, INSTRUCTION)                                                            \
    static __attribute__((noinline)) void NAME(const uint8_t *left, int32_t left_row, const uint8_t *right,            \
                                               int32_t right_row, int32_t count,                                       \
                                               uint32_t sums[1][PARTITA_BLOCK])                                        \
    {                                                                                                                  \
        uint32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, x, y0, y1, y2, y3, z;                                                 \
        (void)left_row;                                                                                                \
        __asm__(".p2align 2\n"                                                                                         \
                ".option push\n"                                                                                       \
                ".option norvc\n"                                                                                      \
                "lp.setup 0, %[count], 19\n"                                                                           \
                "p.lw %[y0], %[right], %[right_row]\n"                                                                 \
                "p.lw %[y1], %[right], %[right_row]\n"                                                                 \
                "p.lw %[y2], %[right], %[right_row]\n"                                                                 \
                "p.lw %[y3], %[right], %[right_row]\n"                                                                 \
                "pv.pack.h %[z], %[y2], %[y0]\n"                                                                       \
                "p.lw %[x], %[left], %[word]\n"                                                                        \
                "pv.shuffle2.b %[y0], %[y2], %[halves]\n"                                                              \
                "pv.pack.h %[y2], %[y3], %[y1]\n"                                                                      \
                "pv.shuffle2.b %[y1], %[y3], %[halves]\n"                                                              \
                "mv %[y3], %[z]\n"                                                                                     \
                "pv.shuffle2.b %[y3], %[y2], %[even]\n"                                                                \
                "pv.shuffle2.b %[z], %[y2], %[odd]\n"                                                                  \
                "mv %[y2], %[y0]\n"                                                                                    \
                "pv.shuffle2.b %[y2], %[y1], %[even]\n"                                                                \
                "pv.shuffle2.b %[y0], %[y1], %[odd]\n"                                                                 \
                INSTRUCTION " %[s0], %[x], %[y3]\n"                                                                    \
                INSTRUCTION " %[s1], %[x], %[z]\n"                                                                     \
                INSTRUCTION " %[s2], %[x], %[y2]\n"                                                                    \
                INSTRUCTION " %[s3], %[x], %[y0]\n"                                                                    \
                "lp.end 0\n"                                                                                           \
                ".option pop\n"                                                                                        \
                : [s0] "+r"(s0), [s1] "+r"(s1), [s2] "+r"(s2), [s3] "+r"(s3), [y0] "=&r"(y0), [y1] "=&r"(y1),          \
                  [y2] "=&r"(y2), [y3] "=&r"(y3), [z] "=&r"(z), [x] "=&r"(x), [left] "+r"(left), [right] "+r"(right)   \
                : [right_row] "r"(right_row), [word] "r"(4), [count] "r"(count), [halves] "r"(0x07060302),             \
                  [even] "r"(0x06020400), [odd] "r"(0x07030501)                                                        \
                : "memory");                                                                                           \
        PARTITA_STORE_ROW(sums[0], s0, s1, s2, s3);                                                                     \
    }

#else

#define PARTITA_MULTIPLY_TURNED(NAME, ROWS, DOT)                                                                       \
    static void NAME(const uint8_t *left, int32_t left_row, const uint8_t *right, int32_t right_row, int32_t count,    \
                     uint32_t sums[ROWS][PARTITA_BLOCK])                                                               \
    {                                                                                                                  \
        uint32_t own[ROWS][PARTITA_BLOCK] = {{0}};                                                                     \
        for (; count > 0; count--) {                                                                                   \
            uint32_t y[PARTITA_BLOCK];                                                                                 \
            for (int32_t j = 0; j < PARTITA_BLOCK; j++) {                                                              \
                y[j] = partita_next_word(&right, right_row);                                                           \
            }                                                                                                          \
            turn(y);                                                                                                   \
            for (int32_t i = 0; i < ROWS; i++) {                                                                       \
                const uint8_t *row = left + i * left_row;                                                              \
                const uint32_t x = partita_next_word(&row, 4);                                                         \
                for (int32_t j = 0; j < PARTITA_BLOCK; j++) {                                                          \
                    own[i][j] = DOT(own[i][j], x, y[j]);                                                               \
                }                                                                                                      \
            }                                                                                                          \
            left += 4;                                                                                                 \
        }                                                                                                              \
        for (int32_t i = 0; i < ROWS; i++) {                                                                           \
            for (int32_t j = 0; j < PARTITA_BLOCK; j++) {                                                              \
                sums[i][j] = own[i][j];                                                                                \
            }                                                                                                          \
        }                                                                                                              \
    }

#define PARTITA_MULTIPLY_TURNED_ROW(NAME, DOT, INSTRUCTION) PARTITA_MULTIPLY_TURNED(NAME, 1, DOT)
#define PARTITA_MULTIPLY_TURNED_BLOCK(NAME, DOT, INSTRUCTION) PARTITA_MULTIPLY_TURNED(NAME, PARTITA_BLOCK, DOT)

#endif

#endif
