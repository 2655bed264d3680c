/*
 * Bytes of a float with one scale: round(x / scale) + zero, half to even, clamped; NaN gives the least level. Most
 * elements need no division.
 */
#ifndef PARTITA_LEVELS_H
#define PARTITA_LEVELS_H

#include "float_functions.h"
#include "simd.h"

/*
 * Levels without a division are the upper halves of words of fixed point, whose lower halves are digits after the point:
 * truncated sums with half a level in their last term, so that the next integer below is the level. Less DOUBTFUL / 2, so that
 * the upper half is right if the sum is off by less, unless the digits are among the DOUBTFUL greatest ones.
 */
enum { PARTITA_DOUBTFUL_DIGITS = 16 };
static const float PARTITA_LEVEL_ONE = 0x1p16f;
static const float PARTITA_LEVEL_BASE = 0x1p15f - PARTITA_DOUBTFUL_DIGITS / 2;

/* A level in both halves of a word. */
#define PARTITA_BOTH_LEVELS(level) (((uint32_t)(level) & 0xffff) * 0x10001)

struct partita_levels {
    float scale;
    float inverse; /* 2^16 / scale, nearly; NaN, for which no level is right, for scales far from 1 */
    float base;
    int32_t zero;
};

/* Levels of at most 16 bits. Beyond 2^20 all values saturate, so that none needs 64 bits, which are in a library. */
static inline int32_t partita_narrow_level(float x, float scale, int32_t zero, int32_t least, int32_t most)
{
    const float quotient = x / scale;
    if (quotient != quotient) {
        return least;
    }
    const float near = quotient > 0x1p20f ? 0x1p20f : quotient < -0x1p20f ? -0x1p20f : quotient;
    return partita_min(partita_max((int32_t)partita_round(near) + zero, least), most);
}

/* The level of x, by a division. */
PARTITA_COMPACT int32_t partita_level(struct partita_levels to, float x, int32_t least, int32_t most);

/*
 * 1 / x within 2 u, for x from 2^-100 to 2^100, and NaN for other numbers. By Newton's iteration, r + r (1 - x r), for which
 * cores needn't wait as they do for the one unit that divides: the first r is off by 2^-4 at most, and each step squares that,
 * so after three steps the roundings of the last one remain, of x r and of the sum.
 */
static inline float partita_level_inverse(float x)
{
    const uint32_t bits = partita_bits(x);
    const uint32_t least = 27u << 23;
    float inverse = partita_from_bits(0x7ef00000u - bits);
    if (bits - least >= 200u << 23) {
        return PARTITA_NAN;
    }
    PARTITA_UNROLLED (int32_t i = 0; i < 3; i++) {
        inverse += inverse * (1.0f - x * inverse);
    }
    return inverse;
}

static inline struct partita_levels partita_levels(float scale, int32_t zero)
{
    const struct partita_levels to = {
        .scale = scale,
        .inverse = partita_level_inverse(scale) * PARTITA_LEVEL_ONE,
        .base = (float)zero * PARTITA_LEVEL_ONE + PARTITA_LEVEL_BASE,
        .zero = zero,
    };
    return to;
}

/*
 * Levels without a division, in the order of their bytes: of sums whose last term has PARTITA_LEVEL_BASE, clamped to the
 * levels of which `least` and `most` consist. Digits after the point go into `digits`, with which partita_are_right tells
 * whether all levels are; most are. NaN and numbers above 2^31 have all digits set, those below -2^31 none.
 */
PARTITA_INLINE uint32_t partita_level_bytes(const float sums[PARTITA_GROUP], uint32_t least, uint32_t most,
                                            uint32_t *digits)
{
    const uint32_t upper_halves = 0x07060302;
    const uint32_t even_bytes = 0x06040200;
    int32_t fixed[PARTITA_GROUP];
    uint32_t levels[PARTITA_GROUP / 2];
    PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_GROUP; i++) {
        fixed[i] = partita_truncated(sums[i]);
    }
    PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_GROUP / 2; i++) {
        const uint32_t low = (uint32_t)fixed[2 * i];
        const uint32_t high = (uint32_t)fixed[2 * i + 1];
        *digits = partita_max_unsigned_h(*digits, partita_pack_h(high, low));
        levels[i] = partita_min_h(partita_max_h(partita_shuffle2_b(low, high, upper_halves), least), most);
    }
    return partita_shuffle2_b(levels[0], levels[1], even_bytes);
}

/* Before the first levels. */
enum { PARTITA_NO_DIGITS = 0 };

static inline int32_t partita_are_right(uint32_t digits)
{
    return partita_max_unsigned(digits >> 16, digits & 0xffff) < 0x10000 - PARTITA_DOUBTFUL_DIGITS;
}

/*
 * Bytes of x / scale. Below 2^8, beyond which levels are clamped, one of the last digits is 2^-24 of the quotient: the sum is
 * off by 2 for the inverse, 1 for the product, 1 for the rounding of x / scale itself, 1 for its own and 1 as it is truncated.
 */
#define PARTITA_NEAR_LEVELS(TYPE, MIN, MAX)                                                                            \
    PARTITA_INLINE uint32_t partita_near_##TYPE(struct partita_levels to, const float x[PARTITA_GROUP],                \
                                                uint32_t *digits)                                                      \
    {                                                                                                                  \
        float sums[PARTITA_GROUP];                                                                                     \
        PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_GROUP; i++) {                                                     \
            sums[i] = x[i] * to.inverse + to.base;                                                                     \
        }                                                                                                              \
        return partita_level_bytes(sums, PARTITA_BOTH_LEVELS(MIN), PARTITA_BOTH_LEVELS(MAX), digits);                  \
    }

PARTITA_NEAR_LEVELS(i8, INT8_MIN, INT8_MAX)
PARTITA_NEAR_LEVELS(u8, 0, UINT8_MAX)

#endif
