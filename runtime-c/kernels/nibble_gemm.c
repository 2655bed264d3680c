#include "nibble_gemm.h"

#include "half.h"
#include "simd.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

enum { COLUMNS = 8, PAIRS = COLUMNS / 2 };

/*
 * The sums of a group of a panel over `words` words of x. A word of codes is four rows of two columns, a and b, and its
 * bytes are 16 b + a + 8. With all = Σ x (16 b + a + 8) and low = Σ x (a + 8), the sums are Σ x a = low - 8 Σ x and
 * Σ x b = (all - low) / 16.
 */
#ifdef PARTITA_XPULP

#define GROUP_SUMS(NAME, DOT, INSTRUCTION)                                                                             \
    PARTITA_INLINE void NAME(const uint8_t *x, const uint8_t *codes, int32_t words, int32_t sums[COLUMNS])             \
    {                                                                                                                  \
        const int32_t word = 4;                                                                                        \
        const uint32_t nibbles = 0x0f0f0f0f;                                                                           \
        const uint32_t ones = 0x01010101;                                                                              \
        uint32_t all0, all1, all2, all3, low0, low1, low2, low3, more, at, y0, y1, y2, y3;                             \
        __asm__("li %[all0], 0\n li %[all1], 0\n li %[all2], 0\n li %[all3], 0\n"                                      \
                "li %[low0], 0\n li %[low1], 0\n li %[low2], 0\n li %[low3], 0\n li %[more], 0\n"                      \
                ".p2align 2\n"                                                                                         \
                ".option push\n"                                                                                       \
                ".option norvc\n"                                                                                      \
                "lp.setup 0, %[words], 18\n"                                                                           \
                "p.lw %[at], %[x], %[word]\n"                                                                          \
                "p.lw %[y0], %[codes], %[word]\n"                                                                      \
                "p.lw %[y1], %[codes], %[word]\n"                                                                      \
                "p.lw %[y2], %[codes], %[word]\n"                                                                      \
                "p.lw %[y3], %[codes], %[word]\n"                                                                      \
                INSTRUCTION " %[more], %[at], %[ones]\n"                                                               \
                INSTRUCTION " %[all0], %[at], %[y0]\n"                                                                 \
                "and %[y0], %[y0], %[nibbles]\n"                                                                       \
                INSTRUCTION " %[all1], %[at], %[y1]\n"                                                                 \
                "and %[y1], %[y1], %[nibbles]\n"                                                                       \
                INSTRUCTION " %[all2], %[at], %[y2]\n"                                                                 \
                "and %[y2], %[y2], %[nibbles]\n"                                                                       \
                INSTRUCTION " %[all3], %[at], %[y3]\n"                                                                 \
                "and %[y3], %[y3], %[nibbles]\n"                                                                       \
                INSTRUCTION " %[low0], %[at], %[y0]\n"                                                                 \
                INSTRUCTION " %[low1], %[at], %[y1]\n"                                                                 \
                INSTRUCTION " %[low2], %[at], %[y2]\n"                                                                 \
                INSTRUCTION " %[low3], %[at], %[y3]\n"                                                                 \
                "lp.end 0\n"                                                                                           \
                ".option pop\n"                                                                                        \
                : [all0] "=&r"(all0), [all1] "=&r"(all1), [all2] "=&r"(all2), [all3] "=&r"(all3), [low0] "=&r"(low0),  \
                  [low1] "=&r"(low1), [low2] "=&r"(low2), [low3] "=&r"(low3), [more] "=&r"(more), [at] "=&r"(at),      \
                  [y0] "=&r"(y0), [y1] "=&r"(y1), [y2] "=&r"(y2), [y3] "=&r"(y3), [x] "+&r"(x), [codes] "+&r"(codes)   \
                : [word] "r"(word), [nibbles] "r"(nibbles), [ones] "r"(ones), [words] "r"(words)                       \
                : "memory");                                                                                           \
        more *= 8;                                                                                                     \
        sums[0] = (int32_t)(low0 - more), sums[1] = (int32_t)(all0 - low0) >> 4;                                       \
        sums[2] = (int32_t)(low1 - more), sums[3] = (int32_t)(all1 - low1) >> 4;                                       \
        sums[4] = (int32_t)(low2 - more), sums[5] = (int32_t)(all2 - low2) >> 4;                                       \
        sums[6] = (int32_t)(low3 - more), sums[7] = (int32_t)(all3 - low3) >> 4;                                       \
    }

#else

#define GROUP_SUMS(NAME, DOT, INSTRUCTION)                                                                             \
    static inline void NAME(const uint8_t *x, const uint8_t *codes, int32_t words, int32_t sums[COLUMNS])              \
    {                                                                                                                  \
        uint32_t all[PAIRS] = {0};                                                                                     \
        uint32_t low[PAIRS] = {0};                                                                                     \
        uint32_t more = 0;                                                                                             \
        for (; words > 0; words--) {                                                                                   \
            const uint32_t at = partita_next_word(&x, 4);                                                              \
            more = DOT(more, at, 0x01010101);                                                                          \
            for (int32_t pair = 0; pair < PAIRS; pair++) {                                                             \
                const uint32_t y = partita_next_word(&codes, 4);                                                       \
                all[pair] = DOT(all[pair], at, y);                                                                     \
                low[pair] = DOT(low[pair], at, y & 0x0f0f0f0f);                                                        \
            }                                                                                                          \
        }                                                                                                              \
        for (int32_t pair = 0; pair < PAIRS; pair++) {                                                                 \
            sums[2 * pair] = (int32_t)(low[pair] - 8 * more);                                                          \
            sums[2 * pair + 1] = (int32_t)(all[pair] - low[pair]) >> 4;                                                \
        }                                                                                                              \
    }

#endif

GROUP_SUMS(group_i8, partita_sdotsp_b, "pv.sdotsp.b")
GROUP_SUMS(group_u8, partita_sdotusp_b, "pv.sdotusp.b")

static inline float same(float scale)
{
    return scale;
}

#define NIBBLE_GEMM(TYPE, SCALES, SCALE, AS_FLOAT)                                                                     \
    PARTITA_UNCONTRACTED void partita_nibble_gemm_##TYPE##_##SCALES(const void *arguments, int32_t core,               \
                                                                    int32_t cores)                                     \
    {                                                                                                                  \
        const struct partita_nibble_gemm *gemm = arguments;                                                            \
        const int32_t rows = gemm->rows;                                                                               \
        const int32_t groups = gemm->groups;                                                                           \
        const int32_t group = gemm->group;                                                                             \
        const struct partita_range share = partita_share(rows * gemm->panels, 1, core, cores);                         \
        if (share.from == share.to) {                                                                                  \
            return;                                                                                                    \
        }                                                                                                              \
        int32_t panel = rows == 1 ? share.from : share.from / rows;                                                    \
        int32_t row = share.from - panel * rows;                                                                       \
        for (int32_t item = share.from; item < share.to; item++) {                                                     \
            const uint8_t *x = (const uint8_t *)gemm->x + row * groups * group;                                        \
            const uint8_t *codes = (const uint8_t *)gemm->codes + panel * groups * group * PAIRS;                      \
            const SCALE *scales = (const SCALE *)gemm->scales + panel * groups * COLUMNS;                              \
            float *out = gemm->out + (row * gemm->panels + panel) * COLUMNS;                                           \
            float own[COLUMNS];                                                                                        \
            PARTITA_UNROLLED (int32_t i = 0; i < COLUMNS; i++) {                                                       \
                own[i] = gemm->accumulate ? out[i] : 0;                                                                \
            }                                                                                                          \
            for (int32_t left = groups; left > 0; left--) {                                                            \
                int32_t sums[COLUMNS];                                                                                 \
                group_##TYPE(x, codes, group / 4, sums);                                                               \
                PARTITA_UNROLLED (int32_t i = 0; i < COLUMNS; i++) {                                                   \
                    own[i] += (float)sums[i] * AS_FLOAT(scales[i]);                                                    \
                }                                                                                                      \
                x += group;                                                                                            \
                codes += group * PAIRS;                                                                                \
                scales += COLUMNS;                                                                                     \
            }                                                                                                          \
            PARTITA_UNROLLED (int32_t i = 0; i < COLUMNS; i++) {                                                       \
                out[i] = own[i];                                                                                       \
            }                                                                                                          \
            if (++row == rows) {                                                                                       \
                row = 0;                                                                                               \
                panel++;                                                                                               \
            }                                                                                                          \
        }                                                                                                              \
    }

NIBBLE_GEMM(i8, f32, float, same)
NIBBLE_GEMM(i8, bf16, uint16_t, partita_from_bf16)
NIBBLE_GEMM(u8, f32, float, same)
NIBBLE_GEMM(u8, bf16, uint16_t, partita_from_bf16)
