/*
 * Sums of four filters or one by four neighbouring windows of bytes, four products at a time, for convolution.c: a window
 * is a column of a matrix, in the order of a filter's elements.
 */
#ifndef PARTITA_CONVOLUTION_BYTES_H
#define PARTITA_CONVOLUTION_BYTES_H

#include "convolution.h"
#include "gemm_bytes.h"
#include "gemm_turned.h"

/* The words of a window of bytes. */
static inline int32_t partita_window_words(const struct partita_convolution *convolution)
{
    return (convolution->channels * convolution->window.kernel_y * convolution->window.kernel_x + 3) / 4;
}

/* Bytes `at`, at + stride, ... of a line, below each other in a word; 0 for those outside of it. */
static __attribute__((noinline)) uint32_t partita_line_bytes(const uint8_t *line, int32_t width, int32_t at,
                                                             int32_t stride)
{
    uint32_t word = 0;
    for (int32_t i = 0; i < PARTITA_BLOCK; i++) {
        if ((uint32_t)at < (uint32_t)width) {
            word |= (uint32_t)line[at] << 8 * i;
        }
        at += stride;
    }
    return word;
}

/* The bytes of such a word that are in a line. */
static inline uint32_t partita_line_mask(int32_t width, int32_t at, int32_t stride)
{
    uint32_t mask = 0;
    for (int32_t i = 0; i < PARTITA_BLOCK; i++) {
        mask |= (uint32_t)at < (uint32_t)width ? (uint32_t)255 << 8 * i : 0;
        at += stride;
    }
    return mask;
}

/*
 * partita_gather_words copies `count` words, at least one, `stride` bytes apart, to contiguous ones, and returns their end.
 * partita_turn_words turns `count` squares of four words, at least one: rows of bytes become columns.
 */
#ifdef PARTITA_XPULP

static inline uint8_t *partita_gather_words(const uint8_t *from, int32_t stride, int32_t count, uint8_t *to)
{
    uint32_t word;
    __asm__ volatile(".p2align 2\n"
                     ".option push\n"
                     ".option norvc\n"
                     "lp.setup 0, %[count], 2\n"
                     "p.lw %[word], %[from], %[stride]\n"
                     "p.sw %[word], %[to], %[four]\n"
                     "lp.end 0\n"
                     ".option pop\n"
                     : [word] "=&r"(word), [from] "+r"(from), [to] "+r"(to)
                     : [stride] "r"(stride), [count] "r"(count), [four] "r"(4)
                     : "memory");
    return to;
}

static __attribute__((noinline)) void partita_turn_words(uint32_t *words, int32_t count)
{
    const uint32_t *from = words;
    uint32_t y0, y1, y2, y3, z;
    __asm__ volatile(".p2align 2\n"
                     ".option push\n"
                     ".option norvc\n"
                     "lp.setup 0, %[count], 18\n"
                     "p.lw %[y0], %[from], %[word]\n"
                     "p.lw %[y1], %[from], %[word]\n"
                     "p.lw %[y2], %[from], %[word]\n"
                     "p.lw %[y3], %[from], %[word]\n"
                     "pv.pack.h %[z], %[y2], %[y0]\n"
                     "pv.shuffle2.b %[y0], %[y2], %[halves]\n"
                     "pv.pack.h %[y2], %[y3], %[y1]\n"
                     "pv.shuffle2.b %[y1], %[y3], %[halves]\n"
                     "mv %[y3], %[z]\n"
                     "pv.shuffle2.b %[y3], %[y2], %[even]\n"
                     "pv.shuffle2.b %[z], %[y2], %[odd]\n"
                     "mv %[y2], %[y0]\n"
                     "pv.shuffle2.b %[y2], %[y1], %[even]\n"
                     "pv.shuffle2.b %[y0], %[y1], %[odd]\n"
                     "p.sw %[y3], %[words], %[word]\n"
                     "p.sw %[z], %[words], %[word]\n"
                     "p.sw %[y2], %[words], %[word]\n"
                     "p.sw %[y0], %[words], %[word]\n"
                     "lp.end 0\n"
                     ".option pop\n"
                     : [y0] "=&r"(y0), [y1] "=&r"(y1), [y2] "=&r"(y2), [y3] "=&r"(y3), [z] "=&r"(z),
                       [from] "+r"(from), [words] "+r"(words)
                     : [word] "r"(4), [count] "r"(count), [halves] "r"(0x07060302), [even] "r"(0x06020400),
                       [odd] "r"(0x07030501)
                     : "memory");
}

#else

static inline uint8_t *partita_gather_words(const uint8_t *from, int32_t stride, int32_t count, uint8_t *to)
{
    for (; count > 0; count--) {
        partita_store_word(&to, 4, partita_next_word(&from, stride));
    }
    return to;
}

static inline void partita_turn_words(uint32_t *words, int32_t count)
{
    for (; count > 0; count--) {
        turn(words);
        words += PARTITA_BLOCK;
    }
}

#endif

/* The same as partita_gather_words for every other byte of words twice as long. */
static PARTITA_COMPACT uint8_t *partita_gather_pairs(const uint8_t *from, int32_t stride, int32_t count, uint8_t *to)
{
    for (; count > 0; count--) {
        const uint8_t *at = from;
        const uint32_t low = partita_next_word(&at, 4);
        partita_store_word(&to, 4, partita_shuffle2_b(low, partita_next_word(&at, 4), 0x06040200));
        from += stride;
    }
    return to;
}

/* The same for any bytes of a line, byte by byte. */
static PARTITA_COMPACT uint8_t *partita_gather_line(const struct partita_window *window, const uint8_t *line, int32_t at,
                                                    uint8_t *to)
{
    for (int32_t kx = window->kernel_x; kx > 0; kx--) {
        partita_store_word(&to, 4, partita_line_bytes(line, window->width, at, window->stride_x));
        at += window->dilation_x;
    }
    return to;
}

/* Clears what isn't data in the words of windows that begin at column `left`. */
static PARTITA_COMPACT void partita_clip_windows(const struct partita_window *window, int32_t left, int32_t rows,
                                                 uint32_t *words)
{
    const int32_t step = window->kernel_x;
    for (int32_t kx = 0; kx < step; kx++) {
        const uint32_t mask = partita_line_mask(window->width, left, window->stride_x);
        if (mask != UINT32_MAX) {
            uint32_t *word = words + kx;
            for (int32_t row = rows; row > 0; row--) {
                *word &= mask;
                word += step;
            }
        }
        left += window->dilation_x;
    }
}

/*
 * Gathers PARTITA_BLOCK windows, the first of which begins at line `top` and column `left` of the planes x: words 4k to
 * 4k + 3 get the elements 4k to 4k + 3 of each. Elements that aren't data, and those after the last one, are 0. Words may
 * have bytes of the line before or after, which are cleared at last, but none from outside of the planes.
 */
static PARTITA_COMPACT void partita_gather_windows(const struct partita_convolution *convolution, const uint8_t *x,
                                                   int32_t top, int32_t left, uint32_t *words)
{
    const struct partita_window window = convolution->window;
    const int32_t stride = window.stride_x;
    const int32_t reach = (window.kernel_x - 1) * window.dilation_x;
    const int32_t next = window.dilation_y * window.width;
    const int32_t size = convolution->channels * window.height * window.width;
    const int32_t end = stride <= 2 ? size - reach - PARTITA_BLOCK * stride : -1;
    const int32_t count = partita_window_words(convolution);
    const uint32_t zero = 0;
    int32_t line = top * window.width;
    uint8_t *to = (uint8_t *)words;
    for (int32_t c = convolution->channels; c > 0; c--) {
        int32_t y = top;
        int32_t from = line + left;
        for (int32_t ky = window.kernel_y; ky > 0; ky--) {
            if ((uint32_t)y >= (uint32_t)window.height) {
                to = partita_gather_words((const uint8_t *)&zero, 0, window.kernel_x, to);
            } else if (from < 0 || from > end) {
                to = partita_gather_line(&window, x + from - left, left, to);
            } else if (stride == 1) {
                to = partita_gather_words(x + from, window.dilation_x, window.kernel_x, to);
            } else {
                to = partita_gather_pairs(x + from, window.dilation_x, window.kernel_x, to);
            }
            y += window.dilation_y;
            from += next;
        }
        line += window.height * window.width;
    }
    if (left < 0 || left + reach + (PARTITA_BLOCK - 1) * stride >= window.width) {
        partita_clip_windows(&window, left, convolution->channels * window.kernel_y, words);
    }
    while (to < (uint8_t *)(words + PARTITA_BLOCK * count)) {
        partita_store_word(&to, 4, 0);
    }
    partita_turn_words(words, count);
}

/* The most rows of a filter that meets lines as they are. */
enum { PARTITA_LINES = 8 };

/* Whether filters have one channel, and rows of contiguous bytes of a word. */
static inline int32_t partita_is_of_lines(const struct partita_convolution *convolution)
{
    const struct partita_window *window = &convolution->window;
    return convolution->channels == 1 && window->kernel_x <= PARTITA_BLOCK && window->dilation_x == 1 &&
           window->kernel_y <= PARTITA_LINES;
}

/*
 * PARTITA_MULTIPLY_LINES: the sums of PARTITA_BLOCK windows, of which the first begins at x and column `left`, by a filter
 * with a word for each row. NAME_any reads only what the windows cover, NAME also what is beside it.
 */
#define PARTITA_MULTIPLY_LINES(NAME, DOT)                                                                              \
    static PARTITA_COMPACT void NAME(const struct partita_window *window, const uint8_t *x, int32_t rows,              \
                                     int32_t left, const uint32_t *filter, uint32_t sums[PARTITA_BLOCK])               \
    {                                                                                                                  \
        const int32_t stride = window->stride_x;                                                                       \
        const int32_t line = window->dilation_y * window->width;                                                       \
        const int32_t last = left + (PARTITA_BLOCK - 1) * stride + window->kernel_x - 1;                               \
        uint32_t own[PARTITA_BLOCK] = {0};                                                                             \
        if (left >= 0 && last < window->width) {                                                                       \
            for (; rows > 0; rows--) {                                                                                 \
                const uint8_t *at = x;                                                                                 \
                const uint32_t factors = *filter;                                                                      \
                PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_BLOCK; i++) {                                             \
                    own[i] = DOT(own[i], partita_next_word(&at, stride), factors);                                     \
                }                                                                                                      \
                x += line;                                                                                             \
                filter++;                                                                                              \
            }                                                                                                          \
        } else {                                                                                                       \
            uint32_t mask[PARTITA_BLOCK];                                                                              \
            PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_BLOCK; i++) {                                                 \
                mask[i] = partita_line_mask(window->width, left + i * stride, 1);                                      \
            }                                                                                                          \
            for (; rows > 0; rows--) {                                                                                 \
                const uint8_t *at = x;                                                                                 \
                const uint32_t factors = *filter;                                                                      \
                PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_BLOCK; i++) {                                             \
                    own[i] = DOT(own[i], partita_next_word(&at, stride) & mask[i], factors);                           \
                }                                                                                                      \
                x += line;                                                                                             \
                filter++;                                                                                              \
            }                                                                                                          \
        }                                                                                                              \
        PARTITA_STORE_ROW(sums, own[0], own[1], own[2], own[3]);                                                       \
    }                                                                                                                  \
                                                                                                                       \
    static PARTITA_COMPACT void NAME##_any(const struct partita_window *window, const uint8_t *x, int32_t rows,        \
                                           int32_t left, const uint32_t *filter, uint32_t sums[PARTITA_BLOCK])         \
    {                                                                                                                  \
        PARTITA_STORE_ROW(sums, 0, 0, 0, 0);                                                                           \
        for (; rows > 0; rows--) {                                                                                     \
            for (int32_t i = 0; i < PARTITA_BLOCK; i++) {                                                              \
                const uint32_t word = partita_line_bytes(x - left, window->width, left + i * window->stride_x, 1);     \
                sums[i] = DOT(sums[i], word, *filter);                                                                 \
            }                                                                                                          \
            x += window->dilation_y * window->width;                                                                   \
            filter++;                                                                                                  \
        }                                                                                                              \
    }

/*
 * PARTITA_MULTIPLY_WINDOWS: NAME_four, the sums of four filters, `size` bytes apart, by the gathered windows, at least one
 * word, and NAME_one, of one filter. The word with a filter's last bytes may have bytes of what follows, which meet zeros.
 */
#ifdef PARTITA_XPULP

#define PARTITA_MULTIPLY_WINDOWS(NAME, DOT, INSTRUCTION)                                                               \
    static __attribute__((noinline)) void NAME##_four(const uint8_t *filters, int32_t size, const uint32_t *windows,   \
                                                      uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])                     \
    {                                                                                                                  \
        const int32_t on = 4 - 3 * size;                                                                               \
        uint32_t s00, s01, s02, s03, s10, s11, s12, s13, s20, s21, s22, s23, s30, s31, s32, s33;                       \
        uint32_t x = (uint32_t)(size + 3) / 4, next, y0, y1, y2, y3;                                                   \
        __asm__("li %[s00], 0\n li %[s10], 0\n li %[s20], 0\n li %[s30], 0\n"                                          \
                "li %[s01], 0\n li %[s11], 0\n li %[s21], 0\n li %[s31], 0\n"                                          \
                "li %[s02], 0\n li %[s12], 0\n li %[s22], 0\n li %[s32], 0\n"                                          \
                "li %[s03], 0\n li %[s13], 0\n li %[s23], 0\n li %[s33], 0\n"                                          \
                ".p2align 2\n"                                                                                         \
                ".option push\n"                                                                                       \
                ".option norvc\n"                                                                                      \
                "lp.setup 0, %[x], 24\n"                                                                               \
                "p.lw %[y0], %[windows], %[word]\n"                                                                    \
                "p.lw %[x], %[filters], %[size]\n"                                                                     \
                "p.lw %[y1], %[windows], %[word]\n"                                                                    \
                INSTRUCTION " %[s00], %[x], %[y0]\n"                                                                   \
                "p.lw %[y2], %[windows], %[word]\n"                                                                    \
                INSTRUCTION " %[s01], %[x], %[y1]\n"                                                                   \
                "p.lw %[y3], %[windows], %[word]\n"                                                                    \
                INSTRUCTION " %[s02], %[x], %[y2]\n"                                                                   \
                "p.lw %[next], %[filters], %[size]\n"                                                                  \
                INSTRUCTION " %[s03], %[x], %[y3]\n"                                                                   \
                INSTRUCTION " %[s10], %[next], %[y0]\n"                                                                \
                "p.lw %[x], %[filters], %[size]\n"                                                                     \
                INSTRUCTION " %[s11], %[next], %[y1]\n"                                                                \
                INSTRUCTION " %[s12], %[next], %[y2]\n"                                                                \
                INSTRUCTION " %[s13], %[next], %[y3]\n"                                                                \
                "p.lw %[next], %[filters], %[on]\n"                                                                    \
                INSTRUCTION " %[s20], %[x], %[y0]\n"                                                                   \
                INSTRUCTION " %[s21], %[x], %[y1]\n"                                                                   \
                INSTRUCTION " %[s22], %[x], %[y2]\n"                                                                   \
                INSTRUCTION " %[s23], %[x], %[y3]\n"                                                                   \
                INSTRUCTION " %[s30], %[next], %[y0]\n"                                                                \
                INSTRUCTION " %[s31], %[next], %[y1]\n"                                                                \
                INSTRUCTION " %[s32], %[next], %[y2]\n"                                                                \
                INSTRUCTION " %[s33], %[next], %[y3]\n"                                                                \
                "lp.end 0\n"                                                                                           \
                ".option pop\n"                                                                                        \
                : [s00] "=&r"(s00), [s01] "=&r"(s01), [s02] "=&r"(s02), [s03] "=&r"(s03), [s10] "=&r"(s10),            \
                  [s11] "=&r"(s11), [s12] "=&r"(s12), [s13] "=&r"(s13), [s20] "=&r"(s20), [s21] "=&r"(s21),            \
                  [s22] "=&r"(s22), [s23] "=&r"(s23), [s30] "=&r"(s30), [s31] "=&r"(s31), [s32] "=&r"(s32),            \
                  [s33] "=&r"(s33), [x] "+r"(x), [next] "=&r"(next), [y0] "=&r"(y0), [y1] "=&r"(y1),                   \
                  [y2] "=&r"(y2), [y3] "=&r"(y3), [filters] "+r"(filters), [windows] "+r"(windows)                     \
                : [size] "r"(size), [on] "r"(on), [word] "r"(4)                                                        \
                : "memory");                                                                                           \
        PARTITA_STORE_ROW(sums[0], s00, s01, s02, s03);                                                                \
        PARTITA_STORE_ROW(sums[1], s10, s11, s12, s13);                                                                \
        PARTITA_STORE_ROW(sums[2], s20, s21, s22, s23);                                                                \
        PARTITA_STORE_ROW(sums[3], s30, s31, s32, s33);                                                                \
    }                                                                                                                  \
                                                                                                                       \
    PARTITA_INLINE void NAME##_one(const uint8_t *filter, int32_t size, const uint32_t *windows,                       \
                                   uint32_t sums[PARTITA_BLOCK])                                                       \
    {                                                                                                                  \
        uint32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, x, y0, y1, y2, y3;                                                    \
        __asm__(".p2align 2\n"                                                                                         \
                ".option push\n"                                                                                       \
                ".option norvc\n"                                                                                      \
                "lp.setup 0, %[words], 9\n"                                                                            \
                "p.lw %[x], %[filter], %[word]\n"                                                                      \
                "p.lw %[y0], %[windows], %[word]\n"                                                                    \
                "p.lw %[y1], %[windows], %[word]\n"                                                                    \
                "p.lw %[y2], %[windows], %[word]\n"                                                                    \
                "p.lw %[y3], %[windows], %[word]\n"                                                                    \
                INSTRUCTION " %[s0], %[x], %[y0]\n"                                                                    \
                INSTRUCTION " %[s1], %[x], %[y1]\n"                                                                    \
                INSTRUCTION " %[s2], %[x], %[y2]\n"                                                                    \
                INSTRUCTION " %[s3], %[x], %[y3]\n"                                                                    \
                "lp.end 0\n"                                                                                           \
                ".option pop\n"                                                                                        \
                : [s0] "+r"(s0), [s1] "+r"(s1), [s2] "+r"(s2), [s3] "+r"(s3), [x] "=&r"(x), [y0] "=&r"(y0),            \
                  [y1] "=&r"(y1), [y2] "=&r"(y2), [y3] "=&r"(y3), [filter] "+r"(filter), [windows] "+r"(windows)       \
                : [word] "r"(4), [words] "r"((size + 3) / 4)                                                           \
                : "memory");                                                                                           \
        PARTITA_STORE_ROW(sums, s0, s1, s2, s3);                                                                       \
    }

#else

/* Bytes of a filter as a word, without those after its end. */
static inline uint32_t partita_filter_word(const uint8_t *filter, int32_t size, int32_t at)
{
    if (at + PARTITA_BLOCK > size) {
        return partita_line_bytes(filter, size, at, 1);
    }
    const uint8_t *bytes = filter + at;
    return partita_next_word(&bytes, 0);
}

#define PARTITA_MULTIPLY_WINDOWS(NAME, DOT, INSTRUCTION)                                                               \
    static void NAME##_one(const uint8_t *filter, int32_t size, const uint32_t *windows, uint32_t sums[PARTITA_BLOCK]) \
    {                                                                                                                  \
        PARTITA_STORE_ROW(sums, 0, 0, 0, 0);                                                                           \
        for (int32_t at = 0; at < size; at += PARTITA_BLOCK) {                                                         \
            for (int32_t i = 0; i < PARTITA_BLOCK; i++) {                                                              \
                sums[i] = DOT(sums[i], partita_filter_word(filter, size, at), windows[at + i]);                        \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void NAME##_four(const uint8_t *filters, int32_t size, const uint32_t *windows,                             \
                            uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])                                               \
    {                                                                                                                  \
        for (int32_t f = 0; f < PARTITA_BLOCK; f++) {                                                                  \
            NAME##_one(filters + f * size, size, windows, sums[f]);                                                    \
        }                                                                                                              \
    }

#endif

#endif
