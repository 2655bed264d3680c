/* Lines of functions of two elements: those of binary.h that have code in several files. */
#ifndef PARTITA_BINARY_LINES_H
#define PARTITA_BINARY_LINES_H

#include "binary.h"
#include "lines.h"

/* A part of a line, with any steps. */
#define PARTITA_BINARY_ELEMENTS(NAME, IN, OUT, VALUE)                                                                  \
    static inline OUT NAME##_of(IN x, IN y)                                                                            \
    {                                                                                                                  \
        return (OUT)(VALUE);                                                                                           \
    }                                                                                                                  \
                                                                                                                       \
    static inline void NAME##_elements(const IN *left, int32_t left_step, const IN *right, int32_t right_step,         \
                                       OUT *out, int32_t length)                                                       \
    {                                                                                                                  \
        for (; length > 0; length--) {                                                                                 \
            *out++ = NAME##_of(*left, *right);                                                                         \
            left += left_step;                                                                                         \
            right += right_step;                                                                                       \
        }                                                                                                              \
    }

/* The elements that portable lines of contiguous operands take at a time. */
enum { PARTITA_BINARY_NEAR = 8 };

/*
 * Defines NAME_line for functions of a few instructions. Loads precede stores, since out may be an operand's tile: so none waits
 * for another.
 */
#define PARTITA_SHORT_BINARY_LINE(NAME, IN, OUT, VALUE)                                                                \
    PARTITA_BINARY_ELEMENTS(NAME, IN, OUT, VALUE)                                                                      \
                                                                                                                       \
    static __attribute__((noinline)) void NAME##_line(const IN *left, int32_t left_step, const IN *right,              \
                                                      int32_t right_step, OUT *out, int32_t length)                    \
    {                                                                                                                  \
        for (; left_step == 1 && right_step == 1 && length >= PARTITA_BINARY_NEAR; length -= PARTITA_BINARY_NEAR) {    \
            IN x[PARTITA_BINARY_NEAR];                                                                                 \
            IN y[PARTITA_BINARY_NEAR];                                                                                 \
            PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_BINARY_NEAR; i++) {                                           \
                x[i] = left[i];                                                                                        \
                y[i] = right[i];                                                                                       \
            }                                                                                                          \
            PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_BINARY_NEAR; i++) {                                           \
                out[i] = NAME##_of(x[i], y[i]);                                                                        \
            }                                                                                                          \
            left += PARTITA_BINARY_NEAR;                                                                               \
            right += PARTITA_BINARY_NEAR;                                                                              \
            out += PARTITA_BINARY_NEAR;                                                                                \
        }                                                                                                              \
        NAME##_elements(left, left_step, right, right_step, out, length);                                              \
    }

/* Of all others. */
#define PARTITA_BINARY_LINE(NAME, IN, OUT, VALUE)                                                                      \
    PARTITA_BINARY_ELEMENTS(NAME, IN, OUT, VALUE)                                                                      \
                                                                                                                       \
    static PARTITA_COMPACT void NAME##_line(const IN *left, int32_t left_step, const IN *right, int32_t right_step,    \
                                            OUT *out, int32_t length)                                                  \
    {                                                                                                                  \
        NAME##_elements(left, left_step, right, right_step, out, length);                                              \
    }

/* The kernel, by NAME_line. Most shares are in the first line, which needs none of what others do. */
#define PARTITA_BINARY_LINES(NAME, IN, OUT)                                                                            \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_binary *binary = arguments;                                                               \
        const struct partita_range share = partita_share_of(binary->extents, core, cores);                             \
        const int32_t left_step = binary->left_strides[PARTITA_AXES - 1];                                              \
        const int32_t right_step = binary->right_strides[PARTITA_AXES - 1];                                            \
        if (share.to <= binary->extents[PARTITA_AXES - 1]) {                                                           \
            NAME##_line((const IN *)binary->left + share.from * left_step, left_step,                                  \
                        (const IN *)binary->right + share.from * right_step, right_step,                               \
                        (OUT *)binary->out + share.from, share.to - share.from);                                       \
            return;                                                                                                    \
        }                                                                                                              \
        struct partita_lines lines =                                                                                   \
            partita_lines(binary->extents, share, 2, binary->left_strides, binary->right_strides, 0);                  \
        while (partita_next_line(&lines)) {                                                                            \
            NAME##_line((const IN *)binary->left + lines.offset[0] + lines.first * left_step, left_step,               \
                        (const IN *)binary->right + lines.offset[1] + lines.first * right_step, right_step,            \
                        (OUT *)binary->out + lines.position, lines.length);                                            \
        }                                                                                                              \
    }

#endif
