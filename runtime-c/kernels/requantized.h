/*
 * Requantisation of i32 sums, in the order of ir's IntegerNetwork.Requantize, for the kernels that end with it.
 */
#ifndef PARTITA_REQUANTIZED_H
#define PARTITA_REQUANTIZED_H

#include "simd.h"

/* What all elements share, as a local of a kernel: a store of bytes might change what a pointer points to. */
struct partita_requantized {
    int64_t half; /* 2^shift / 2 */
    int64_t low;
    int64_t high;
    int32_t shift;
    int32_t is_narrow; /* 32 bits are enough for both limits */
    int32_t is_small;  /* 32 bits are enough for all steps if x is first clamped: see partita_scale */
};

/* For a shift from 0 to 62. */
static inline struct partita_requantized partita_requantized(int32_t shift, int64_t low, int64_t high)
{
    struct partita_requantized to = {.half = ((int64_t)1 << shift) / 2, .low = low, .high = high, .shift = shift};
    to.is_narrow = low == (int32_t)low && high == (int32_t)high;
    to.is_small = shift <= 28 && low >= -(1 << 28 >> shift) && high <= 1 << 28 >> shift;
    return to;
}

/*
 * A multiplier and an addend, with which 32 bits are enough. For |multiplier| < 2^b, an x beyond 2^(30 - b) gives a product
 * of at least 2^29; less an addend and half of at most 2^28 together, it is still beyond low or high, and so is that of
 * 2^(30 - b) itself. So x can be clamped.
 */
struct partita_scale {
    int32_t multiplier;
    int32_t addend; /* and half */
    int32_t most;   /* 2^(30 - b) */
    int32_t exists;
};

static inline struct partita_scale partita_scale(struct partita_requantized to, int32_t multiplier, int32_t addend)
{
    const uint32_t magnitude = multiplier < 0 ? -(uint32_t)multiplier : (uint32_t)multiplier;
    const uint32_t limit = (uint32_t)1 << 27;
    const int32_t bits = partita_highest_bit(magnitude | 1) + 1;
    struct partita_scale scale = {.multiplier = multiplier, .addend = (int32_t)((uint32_t)addend + (uint32_t)to.half)};
    scale.exists = to.is_small && bits < 30 && (uint32_t)addend + limit <= 2 * limit;
    scale.most = scale.exists ? 1 << (30 - bits) : 0;
    return scale;
}

/* The result for a scale that exists; one instruction for both limits, if they are known to be those of a signed type. */
static inline int32_t partita_rescale(struct partita_scale scale, int32_t shift, int32_t low, int32_t high, int32_t x)
{
    const int32_t scaled = (partita_clip(x, scale.most) * scale.multiplier + scale.addend) >> shift;
    const int32_t is_signed = __builtin_constant_p(low) && __builtin_constant_p(high) && low == -high - 1;
    return is_signed ? partita_clip(scaled, high) : partita_min(partita_max(scaled, low), high);
}

/*
 * clamp((x multiplier + addend + 2^shift / 2) >> shift, low, high): nothing overflows, since the product of two i32 and
 * two smaller terms fit 64 bits. Cores of 32 bits shift halves of the sum, and clamp 32 bits after saturating to them.
 */
static inline int64_t partita_requantize(struct partita_requantized to, int32_t x, int32_t multiplier, int32_t addend)
{
    const int64_t sum = (int64_t)x * multiplier + (addend + to.half);
    if (!to.is_narrow) {
        return partita_clamp(sum >> to.shift, to.low, to.high);
    }
    const int32_t high = (int32_t)(sum >> 32);
    if (to.shift >= 32) {
        return partita_min(partita_max(high >> (to.shift - 32), (int32_t)to.low), (int32_t)to.high);
    }
    const int32_t shifted = (int32_t)((uint32_t)sum >> to.shift | (uint32_t)high << 1 << (31 - to.shift));
    const int32_t fits = high >> to.shift == shifted >> 31;
    const int32_t near = fits ? shifted : (high >> 31) ^ INT32_MAX;
    return partita_min(partita_max(near, (int32_t)to.low), (int32_t)to.high);
}

/*
 * Requantisation whose result is in the upper half of a sum of 64 bits, for a shift of at least 2: a sum is multiplied by
 * 2^up in advance, so that the shift becomes at least 32.
 */
struct partita_upper {
    int64_t half;
    int64_t offset; /* the addend and half */
    int32_t multiplier;
    int32_t up;
    int32_t shift; /* of the upper half */
    int32_t low;
    int32_t high;
};

static inline struct partita_upper partita_upper(int32_t shift, int32_t low, int32_t high)
{
    const int32_t up = shift < 32 ? 32 - shift : 0;
    const int32_t rest = shift + up - 32;
    const struct partita_upper to = {.half = (int64_t)1 << (31 + rest), .up = up, .shift = rest, .low = low, .high = high};
    return to;
}

/*
 * Sets a multiplier and an addend; false if the product's multiplier doesn't fit 32 bits. If it does, nothing overflows:
 * the product is at most 2^62, the addend at most 2^61, and half of them at most 2^61.
 */
static inline int32_t partita_set_upper(struct partita_upper *to, int32_t multiplier, int32_t addend)
{
    to->multiplier = (int32_t)((uint32_t)multiplier << to->up);
    to->offset = (int64_t)addend * ((int32_t)1 << to->up) + to->half;
    return to->multiplier >> to->up == multiplier;
}

/*
 * PARTITA_REQUANTIZE_COLUMN(NAME, OUT, STORE): requantises `count` sums, at least one, each `step` words after the one
 * before, to elements that are out_step apart.
 * PARTITA_REQUANTIZE_ROW(NAME, OUT, STORE): requantises `count` sums, at least one, by a multiplier and an addend for each, and
 * a shift of 33 at least: then results are in the upper halves of sums, which half of the last digit doesn't leave.
 */
#ifdef PARTITA_XPULP

/* The lower half of the sum carries if it wraps, so if it is below the offset's. */
#define PARTITA_REQUANTIZE_COLUMN(NAME, OUT, STORE)                                                                    \
    PARTITA_INLINE void NAME(struct partita_upper to, const uint32_t *sums, int32_t step, OUT *out, int32_t out_step,  \
                             int32_t count)                                                                            \
    {                                                                                                                  \
        const uint32_t lower = (uint32_t)to.offset;                                                                    \
        const int32_t upper = (int32_t)(to.offset >> 32);                                                              \
        int32_t x;                                                                                                     \
        uint32_t sum;                                                                                                  \
        __asm__ volatile(".p2align 2\n"                                                                                \
                ".option push\n"                                                                                       \
                ".option norvc\n"                                                                                      \
                "lp.setup 0, %[count], 11\n"                                                                           \
                "p.lw %[x], %[sums], %[step]\n"                                                                        \
                "mv %[sum], %[lower]\n"                                                                                \
                "p.mac %[sum], %[x], %[multiplier]\n"                                                                  \
                "mulh %[x], %[x], %[multiplier]\n"                                                                     \
                "sltu %[sum], %[sum], %[lower]\n"                                                                      \
                "add %[x], %[x], %[upper]\n"                                                                           \
                "add %[x], %[x], %[sum]\n"                                                                             \
                "sra %[x], %[x], %[shift]\n"                                                                           \
                "p.max %[x], %[x], %[low]\n"                                                                           \
                "p.min %[x], %[x], %[high]\n" STORE " %[x], %[out], %[out_step]\n"                                     \
                "lp.end 0\n"                                                                                           \
                ".option pop\n"                                                                                        \
                : [x] "=&r"(x), [sum] "=&r"(sum), [sums] "+r"(sums), [out] "+r"(out)                                   \
                : [step] "r"(4 * step), [out_step] "r"(out_step * (int32_t)sizeof(OUT)), [count] "r"(count),           \
                  [lower] "r"(lower), [upper] "r"(upper), [multiplier] "r"(to.multiplier), [shift] "r"(to.shift),      \
                  [low] "r"(to.low), [high] "r"(to.high)                                                               \
                : "memory");                                                                                           \
    }

#define PARTITA_REQUANTIZE_ROW(NAME, OUT, STORE)                                                                       \
    static __attribute__((noinline)) void NAME(const uint32_t *sums, const int32_t *multiplier, const int32_t *addend, \
                                               int32_t shift, int32_t low, int32_t high, OUT *out, int32_t count)      \
    {                                                                                                                  \
        int32_t x, y, z;                                                                                               \
        uint32_t sum;                                                                                                  \
        __asm__ volatile(".p2align 2\n"                                                                                \
                ".option push\n"                                                                                       \
                ".option norvc\n"                                                                                      \
                "lp.setup 0, %[count], 15\n"                                                                           \
                "p.lw %[x], %[sums], %[word]\n"                                                                        \
                "p.lw %[y], %[multiplier], %[word]\n"                                                                  \
                "p.lw %[z], %[addend], %[word]\n"                                                                      \
                "mv %[sum], %[z]\n"                                                                                    \
                "p.mac %[sum], %[x], %[y]\n"                                                                           \
                "mulh %[x], %[x], %[y]\n"                                                                              \
                "sltu %[sum], %[sum], %[z]\n"                                                                          \
                "srai %[z], %[z], 31\n"                                                                                \
                "add %[x], %[x], %[half]\n"                                                                            \
                "add %[x], %[x], %[sum]\n"                                                                             \
                "add %[x], %[x], %[z]\n"                                                                               \
                "sra %[x], %[x], %[shift]\n"                                                                           \
                "p.max %[x], %[x], %[low]\n"                                                                           \
                "p.min %[x], %[x], %[high]\n" STORE " %[x], %[out], %[out_step]\n"                                     \
                "lp.end 0\n"                                                                                           \
                ".option pop\n"                                                                                        \
                : [x] "=&r"(x), [y] "=&r"(y), [z] "=&r"(z), [sum] "=&r"(sum), [sums] "+r"(sums),                       \
                  [multiplier] "+r"(multiplier), [addend] "+r"(addend), [out] "+r"(out)                                \
                : [word] "r"(4), [out_step] "r"((int32_t)sizeof(OUT)), [count] "r"(count),                             \
                  [half] "r"(1 << (shift - 33)), [shift] "r"(shift - 32), [low] "r"(low), [high] "r"(high)             \
                : "memory");                                                                                           \
    }

#else

#define PARTITA_REQUANTIZE_COLUMN(NAME, OUT, STORE)                                                                    \
    static inline void NAME(struct partita_upper to, const uint32_t *sums, int32_t step, OUT *out, int32_t out_step,   \
                            int32_t count)                                                                             \
    {                                                                                                                  \
        for (int32_t i = 0; i < count; i++) {                                                                          \
            const int64_t sum = (int64_t)(int32_t)sums[i * step] * to.multiplier + to.offset;                          \
            const int32_t shifted = (int32_t)(sum >> 32) >> to.shift;                                                  \
            out[i * out_step] = (OUT)partita_min(partita_max(shifted, to.low), to.high);                               \
        }                                                                                                              \
    }

#define PARTITA_REQUANTIZE_ROW(NAME, OUT, STORE)                                                                       \
    static void NAME(const uint32_t *sums, const int32_t *multiplier, const int32_t *addend, int32_t shift,            \
                     int32_t low, int32_t high, OUT *out, int32_t count)                                               \
    {                                                                                                                  \
        for (int32_t i = 0; i < count; i++) {                                                                          \
            const int64_t sum = (int64_t)(int32_t)sums[i] * multiplier[i] + addend[i];                                 \
            const int32_t shifted = ((int32_t)(sum >> 32) + (1 << (shift - 33))) >> (shift - 32);                      \
            out[i] = (OUT)partita_min(partita_max(shifted, low), high);                                                \
        }                                                                                                              \
    }

#endif

#endif
