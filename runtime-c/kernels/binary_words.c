/*
 * Sums, differences and products of words, and the greater or lesser one: with XpulpV2, hardware loops of loads, an operation
 * and a store.
 */
#include "binary_lines.h"
#include "simd.h"

#ifdef PARTITA_XPULP

/* Two elements at a time, with any steps; leaves one of an odd length. */
#define WORDS(INSTRUCTION)                                                                                             \
    __asm__ volatile(".p2align 2\n"                                                                                             \
            ".option push\n"                                                                                           \
            ".option norvc\n"                                                                                          \
            "lp.setup 0, %[pairs], 8\n"                                                                                \
            "p.lw t0, %[left], %[left_step]\n"                                                                         \
            "p.lw t1, %[right], %[right_step]\n"                                                                       \
            "p.lw t3, %[left], %[left_step]\n"                                                                         \
            "p.lw t4, %[right], %[right_step]\n" INSTRUCTION " t0, t0, t1\n" INSTRUCTION " t3, t3, t4\n"               \
            "p.sw t0, %[out], %[word]\n"                                                                               \
            "p.sw t3, %[out], %[word]\n"                                                                               \
            "lp.end 0\n"                                                                                               \
            ".option pop\n"                                                                                            \
            : [left] "+r"(left), [right] "+r"(right), [out] "+r"(out)                                                  \
            : [pairs] "r"(length / 2), [left_step] "r"(4 * left_step), [right_step] "r"(4 * right_step), [word] "r"(4) \
            : "t0", "t1", "t3", "t4", "memory")

#define WORD_LINE(NAME, INSTRUCTION, VALUE)                                                                            \
    PARTITA_BINARY_ELEMENTS(NAME, int32_t, int32_t, VALUE)                                                             \
                                                                                                                       \
    static PARTITA_COMPACT void NAME##_line(const int32_t *left, int32_t left_step, const int32_t *right,              \
                                            int32_t right_step, int32_t *out, int32_t length)                          \
    {                                                                                                                  \
        if (length > 1) {                                                                                              \
            WORDS(INSTRUCTION);                                                                                        \
            length &= 1;                                                                                               \
        }                                                                                                              \
        NAME##_elements(left, left_step, right, right_step, out, length);                                              \
    }

/*
 * Eight contiguous elements at a time; leaves those after the last whole eight. An operation begins in between loads and stores,
 * as two cores share a unit of floats, and its result is stored after the next one's loads.
 */
#define BEGUN(INSTRUCTION, x, y) INSTRUCTION " " x ", " x ", " y "\n"
#define LOADED(at, x, y) "flw " x ", 4 * " at "(%[left])\n flw " y ", 4 * " at "(%[right])\n"
#define STORED(at, x) "fsw " x ", 4 * " at "(%[out])\n"
#define FLOATS(INSTRUCTION)                                                                                            \
    __asm__ volatile(".p2align 2\n"                                                                                             \
            ".option push\n"                                                                                           \
            ".option norvc\n"                                                                                          \
            "lp.setup 0, %[eights], 35\n" LOADED("0", "ft0", "ft4") LOADED("1", "ft1", "ft5")                          \
                BEGUN(INSTRUCTION, "ft0", "ft4") LOADED("2", "ft2", "ft6") BEGUN(INSTRUCTION, "ft1", "ft5")            \
                    LOADED("3", "ft3", "ft7") STORED("0", "ft0") BEGUN(INSTRUCTION, "ft2", "ft6")                      \
                        LOADED("4", "ft0", "ft4") STORED("1", "ft1") BEGUN(INSTRUCTION, "ft3", "ft7")                  \
                            LOADED("5", "ft1", "ft5") STORED("2", "ft2") BEGUN(INSTRUCTION, "ft0", "ft4")              \
                                LOADED("6", "ft2", "ft6") STORED("3", "ft3") BEGUN(INSTRUCTION, "ft1", "ft5")          \
                                    LOADED("7", "ft3", "ft7") STORED("4", "ft0") BEGUN(INSTRUCTION, "ft2", "ft6")      \
            "addi %[left], %[left], 32\n"                                                                              \
            "addi %[right], %[right], 32\n" STORED("5", "ft1") BEGUN(INSTRUCTION, "ft3", "ft7")                        \
            "addi %[out], %[out], 32\n"                                                                                \
            "fsw ft2, -8(%[out])\n"                                                                                    \
            "fsw ft3, -4(%[out])\n"                                                                                    \
            "lp.end 0\n"                                                                                               \
            ".option pop\n"                                                                                            \
            : [left] "+r"(left), [right] "+r"(right), [out] "+r"(out)                                                  \
            : [eights] "r"(length / 8)                                                                                 \
            : "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "memory")

/* Two elements at a time, with any steps; leaves one of an odd length. */
#define STRIDED_FLOATS(INSTRUCTION)                                                                                    \
    __asm__ volatile(".p2align 2\n"                                                                                             \
            ".option push\n"                                                                                           \
            ".option norvc\n"                                                                                          \
            "lp.setup 0, %[pairs], 13\n"                                                                               \
            "p.lw t0, %[left], %[left_step]\n"                                                                         \
            "p.lw t1, %[right], %[right_step]\n"                                                                       \
            "p.lw t3, %[left], %[left_step]\n"                                                                         \
            "p.lw t4, %[right], %[right_step]\n"                                                                       \
            "fmv.w.x ft0, t0\n"                                                                                        \
            "fmv.w.x ft4, t1\n"                                                                                        \
            "fmv.w.x ft1, t3\n" BEGUN(INSTRUCTION, "ft0", "ft4")                                                       \
            "fmv.w.x ft5, t4\n"                                                                                        \
            "addi %[out], %[out], 8\n" BEGUN(INSTRUCTION, "ft1", "ft5")                                                \
            "fsw ft0, -8(%[out])\n"                                                                                    \
            "fsw ft1, -4(%[out])\n"                                                                                    \
            "lp.end 0\n"                                                                                               \
            ".option pop\n"                                                                                            \
            : [left] "+r"(left), [right] "+r"(right), [out] "+r"(out)                                                  \
            : [pairs] "r"(length / 2), [left_step] "r"(4 * left_step), [right_step] "r"(4 * right_step)                \
            : "t0", "t1", "t3", "t4", "ft0", "ft1", "ft4", "ft5", "memory")

#define FLOAT_LINE(NAME, INSTRUCTION, VALUE)                                                                           \
    PARTITA_BINARY_ELEMENTS(NAME, float, float, VALUE)                                                                 \
                                                                                                                       \
    static PARTITA_COMPACT void NAME##_line(const float *left, int32_t left_step, const float *right,                  \
                                            int32_t right_step, float *out, int32_t length)                            \
    {                                                                                                                  \
        if (left_step == 1 && right_step == 1 && length >= 8) {                                                        \
            FLOATS(INSTRUCTION);                                                                                       \
            length &= 7;                                                                                               \
        }                                                                                                              \
        if (length > 1) {                                                                                              \
            STRIDED_FLOATS(INSTRUCTION);                                                                               \
            length &= 1;                                                                                               \
        }                                                                                                              \
        NAME##_elements(left, left_step, right, right_step, out, length);                                              \
    }

#else

#define WORD_LINE(NAME, INSTRUCTION, VALUE) PARTITA_SHORT_BINARY_LINE(NAME, int32_t, int32_t, VALUE)
#define FLOAT_LINE(NAME, INSTRUCTION, VALUE) PARTITA_SHORT_BINARY_LINE(NAME, float, float, VALUE)

#endif

#define WORD_BINARY(NAME, INSTRUCTION, VALUE)                                                                          \
    WORD_LINE(NAME, INSTRUCTION, VALUE)                                                                                \
    PARTITA_BINARY_LINES(NAME, int32_t, int32_t)

#define FLOAT_BINARY(NAME, INSTRUCTION, VALUE)                                                                         \
    FLOAT_LINE(NAME, INSTRUCTION, VALUE)                                                                               \
    PARTITA_BINARY_LINES(NAME, float, float)

WORD_BINARY(partita_add_i32, "add", (uint32_t)x + (uint32_t)y)
WORD_BINARY(partita_sub_i32, "sub", (uint32_t)x - (uint32_t)y)
WORD_BINARY(partita_mul_i32, "mul", (uint32_t)x *(uint32_t)y)
WORD_BINARY(partita_min_i32, "p.min", x < y ? x : y)
WORD_BINARY(partita_max_i32, "p.max", x > y ? x : y)

FLOAT_BINARY(partita_add_f32, "fadd.s", x + y)
FLOAT_BINARY(partita_sub_f32, "fsub.s", x - y)
FLOAT_BINARY(partita_mul_f32, "fmul.s", x *y)
