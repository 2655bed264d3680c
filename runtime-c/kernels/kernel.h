/*
 * Rules that all kernels follow.
 *
 * A kernel is a function of its arguments, a core's number and the number of cores. Called once for each
 * core from 0 to cores - 1, in any order or at the same time, it computes the whole result; each element of the
 * result is written by one core only, and its bits don't depend on the number of cores.
 *
 * Kernels read and write the memory that their arguments point to and their own stack: functions of less than 1 KiB, at
 * most seven deep. They allocate nothing, don't recurse, keep no state, and need no C library but memset and memcpy,
 * which compilers call. Pointers point to tiles in L1, aligned to their elements; other memories work but are slow.
 * Extents may be 0; they and strides are below 2^27. Strides count elements.
 *
 * Integers wrap in two's complement. Floats are IEEE f32; only kernels of f64 use a wider type, which devices only
 * have in software. "Exact" means the bits of the reference evaluator when multiplications and additions aren't
 * contracted (-ffp-contract=off), as on the host; contracted ones round once less. Functions that are PARTITA_UNCONTRACTED
 * are exact with any flags: their results are integers, for which a rounding less may decide.
 */
#ifndef PARTITA_KERNEL_H
#define PARTITA_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) && !defined(__clang__)
#define PARTITA_UNCONTRACTED __attribute__((optimize("fp-contract=off")))
#else
#define PARTITA_UNCONTRACTED
#endif

/*
 * For the inner functions of a kernel, which the instruction cache of 4 KiB has to hold: compilers don't clone them or
 * their loops. Loops with a small constant count are unrolled by PARTITA_UNROLLED, so that arrays are in registers.
 */
#if defined(__GNUC__) && !defined(__clang__)
#define PARTITA_COMPACT __attribute__((noinline, optimize("O2", "no-schedule-insns")))
#else
#define PARTITA_COMPACT __attribute__((noinline))
#endif
#define PARTITA_UNROLLED _Pragma("GCC unroll 8") for

/*
 * For functions that compute a group of elements in stages, each for all elements before the next one, so that none waits
 * for the result of a unit of floats: compilers keep that order. They stand alone, since of several attributes GCC keeps
 * the options of the last one. Where results are exact, PARTITA_STAGED_UNCONTRACTED.
 */
#if defined(__GNUC__) && !defined(__clang__)
#define PARTITA_STAGED __attribute__((noinline, optimize("O2", "no-schedule-insns", "no-tree-ter", "no-tree-sink")))
#define PARTITA_STAGED_UNCONTRACTED                                                                                    \
    __attribute__((noinline, optimize("O2", "no-schedule-insns", "no-tree-ter", "no-tree-sink", "fp-contract=off")))
#else
#define PARTITA_STAGED __attribute__((noinline))
#define PARTITA_STAGED_UNCONTRACTED __attribute__((noinline))
#endif
enum { PARTITA_GROUP = 4 };

/* Compilers add constants to such a pointer, and not to the offsets that it was computed from. */
#if defined(__GNUC__)
#define PARTITA_BASE(pointer) __asm__("" : "+r"(pointer))
#else
#define PARTITA_BASE(pointer) ((void)(pointer))
#endif

/*
 * Inlined by any optimisation: parts of such functions, whose arrays are in registers only there, and what takes no longer than
 * a call.
 */
#define PARTITA_INLINE static inline __attribute__((always_inline))

/* Strided axes of tiles. Unused ones come first, with extent 1. */
#define PARTITA_AXES 6

typedef void partita_kernel(const void *arguments, int32_t core, int32_t cores);

struct partita_range {
    int32_t from;
    int32_t to;
};

/* A core's part of 0 .. count - 1: whole blocks of `block`, divided as evenly as possible. */
PARTITA_INLINE struct partita_range partita_share(int32_t count, int32_t block, int32_t core, int32_t cores)
{
    const int32_t blocks = count / block + (count % block != 0);
    /* A division takes as long as 30 other instructions. */
    const int32_t each = cores == 8 ? blocks >> 3 : blocks / cores;
    const int32_t more = blocks - each * cores;
    const int32_t first = each * core + (core < more ? core : more);
    const int32_t last = first + each + (core < more);
    struct partita_range range = {first * block, last * block};
    if (range.from > count) {
        range.from = count;
    }
    if (range.to > count) {
        range.to = count;
    }
    return range;
}

/* Wrapping arithmetic, which C defines on unsigned integers only. */
static inline int32_t partita_add_wrapping(int32_t x, int32_t y)
{
    return (int32_t)((uint32_t)x + (uint32_t)y);
}

static inline int32_t partita_multiply_wrapping(int32_t x, int32_t y)
{
    return (int32_t)((uint32_t)x * (uint32_t)y);
}

static inline int64_t partita_add_wrapping_64(int64_t x, int64_t y)
{
    return (int64_t)((uint64_t)x + (uint64_t)y);
}

static inline int64_t partita_multiply_wrapping_64(int64_t x, int64_t y)
{
    return (int64_t)((uint64_t)x * (uint64_t)y);
}

/* For y other than 0. A 32-bit division takes a tenth of the time of a 64-bit one on a 32-bit core. */
static inline int64_t partita_divide_wrapping_64(int64_t x, int64_t y)
{
    if (x == (int32_t)x && y == (int32_t)y && y > 0) {
        return (int32_t)x / (int32_t)y;
    }
    return y == -1 ? partita_multiply_wrapping_64(x, -1) : x / y;
}

/* Shifts by any distance of 0 or more. */
static inline int64_t partita_shift_right_64(int64_t x, int64_t distance)
{
    return x >> (distance < 63 ? distance : 63);
}

static inline int64_t partita_clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

#endif
