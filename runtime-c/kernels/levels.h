/*
 * Bytes of a float with one scale: round(x / scale) + zero, half to even, clamped; NaN gives the least level. Most
 * elements need no division.
 */
#ifndef PARTITA_LEVELS_H
#define PARTITA_LEVELS_H

#include "float_functions.h"
#include "simd.h"

enum { PARTITA_LEVEL_DIGITS = 13 };

struct partita_levels {
    float scale;
    float inverse; /* NaN, for which nothing is near, unless it is a normal number */
    int32_t zero;
    uint32_t addend;
};

/* The level of x, by a division. */
PARTITA_COMPACT int32_t partita_level(struct partita_levels to, float x, int32_t least, int32_t most);

static inline struct partita_levels partita_levels(float scale, int32_t zero)
{
    const struct partita_levels to = {
        .scale = scale,
        .inverse = scale > 0x1p-100f && scale < 0x1p100f ? 1.0f / scale : PARTITA_NAN,
        .zero = zero,
        .addend = ((uint32_t)zero << PARTITA_LEVEL_DIGITS) + (1u << (PARTITA_LEVEL_DIGITS - 1)) + 1u - 0x44c00000u,
    };
    return to;
}

/*
 * Levels without a division, not clamped, with 13 digits after the point, of which the next integer below is the level.
 * Returns whether they are right; most are.
 *
 * The bits of s = x / scale + 1.5 2^10 are a number with 13 digits after the point for x / scale from -2^9 to 2^9. It is
 * off by less than 2^-12: 2^-13.4 for inverse, product and the rounding of x / scale itself, and 2^-14 for the sum. So
 * it is right if s is 2^-12 or more from a half. Beyond 2^9, bits grow with x, and all levels saturate, since zero has 8
 * digits; but not those of NaN and of negative s, which are the greatest as unsigned integers.
 */
PARTITA_INLINE int32_t partita_near_levels(struct partita_levels to, const float x[PARTITA_GROUP],
                                           uint32_t levels[PARTITA_GROUP])
{
    uint32_t most = 0;
    uint32_t least = UINT32_MAX;
    PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_GROUP; i++) {
        levels[i] = partita_bits(x[i] * to.inverse + 0x1.8p10f);
    }
    PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_GROUP; i++) {
        most = partita_max_unsigned(most, levels[i]);
        levels[i] += to.addend;
        least = partita_min_unsigned(least, levels[i] << (32 - PARTITA_LEVEL_DIGITS));
    }
    return most <= 0x7f800000u && least >= 3u << (32 - PARTITA_LEVEL_DIGITS);
}

/* The bytes of near levels. */
static inline int8_t partita_nearest_i8(uint32_t level)
{
    return (int8_t)partita_clip((int32_t)level >> PARTITA_LEVEL_DIGITS, INT8_MAX);
}

static inline uint8_t partita_nearest_u8(uint32_t level)
{
    return (uint8_t)partita_min(partita_max((int32_t)level >> PARTITA_LEVEL_DIGITS, 0), UINT8_MAX);
}

#endif
