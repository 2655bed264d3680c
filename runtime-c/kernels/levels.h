/*
 * Bytes of a float with one scale: round(x / scale) + zero, half to even, clamped; NaN gives the least level. Most
 * elements need no division.
 */
#ifndef PARTITA_LEVELS_H
#define PARTITA_LEVELS_H

#include "float_functions.h"
#include "simd.h"

enum { PARTITA_LEVEL_DIGITS = 13 };

/*
 * The bits of floats from 2^10 to 2^11 are a number with 13 digits after the point. A level is added to 1.5 2^10, so that its
 * byte consists of the 8 bits above these digits; and a half, so that the next integer below is the level; and the last
 * digit, so that levels are right if all digits together are three or more: see partita_level_bytes.
 */
enum { PARTITA_LEVEL_0 = 0x44c00000, PARTITA_LEAST_DIGITS = 3 };
static const float PARTITA_LEVEL_BASE = 0x1.8p10f + 0.5f + 0x1p-13f;

/* The bits of a level, from which on a sum has at least this level. */
#define PARTITA_LEVEL_BITS(level) (PARTITA_LEVEL_0 + (level) * (1 << PARTITA_LEVEL_DIGITS))

struct partita_levels {
    float scale;
    float inverse; /* NaN, for which no level is right, unless it is a normal number */
    float base;
    int32_t zero;
};

/* The level of x, by a division. */
PARTITA_COMPACT int32_t partita_level(struct partita_levels to, float x, int32_t least, int32_t most);

static inline struct partita_levels partita_levels(float scale, int32_t zero)
{
    const struct partita_levels to = {
        .scale = scale,
        .inverse = scale > 0x1p-100f && scale < 0x1p100f ? 1.0f / scale : PARTITA_NAN,
        .base = PARTITA_LEVEL_BASE + (float)zero,
        .zero = zero,
    };
    return to;
}

/*
 * Levels without a division, in the order of their bytes: floors of sums whose last term is PARTITA_LEVEL_BASE, clamped to
 * the levels with the bits `least` and `most`. Digits after the point go into `digits`, with which partita_are_right tells
 * whether all levels are; most are.
 *
 * A sum that is off by less than two of its last digits, 2^-12, has the right floor if its digits are three or more: the
 * last digit of the base makes up for one of them. Beyond 2^10 and 2^11 bits grow with sums, as signed integers, so levels
 * are clamped as they should be. Digits of NaN are 0.
 */
PARTITA_INLINE uint32_t partita_level_bytes(const float sums[PARTITA_GROUP], int32_t least, int32_t most,
                                            uint32_t *digits)
{
    const uint32_t up = 16 - PARTITA_LEVEL_DIGITS; /* after which the byte is the third */
    int32_t bits[PARTITA_GROUP];
    uint32_t levels[PARTITA_GROUP];
    PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_GROUP; i++) {
        bits[i] = partita_result_bits(sums[i]);
    }
    PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_GROUP; i += 2) {
        const uint32_t both = partita_pack_h((uint32_t)bits[i + 1], (uint32_t)bits[i]);
        *digits = partita_min_unsigned_h(*digits, partita_sll_h(both, up << 16 | up));
    }
    PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_GROUP; i++) {
        levels[i] = (uint32_t)partita_min(partita_max(bits[i], least), most) << up;
    }
    const uint32_t thirds = 0x0602; /* of both words */
    return partita_pack_h(partita_shuffle2_b(levels[2], levels[3], thirds),
                          partita_shuffle2_b(levels[0], levels[1], thirds));
}

/* Before the first levels. */
enum { PARTITA_NO_DIGITS = -1 };

static inline int32_t partita_are_right(uint32_t digits)
{
    const uint32_t least = PARTITA_LEAST_DIGITS << (16 - PARTITA_LEVEL_DIGITS);
    return partita_min_unsigned(digits >> 16, digits & 0xffff) >= least;
}

/*
 * Bytes of x / scale, for which the sum is off by 2^-13 for inverse, product and the rounding of x / scale itself, below
 * 2^9 where levels aren't clamped, and by 2^-14 for its own rounding.
 */
#define PARTITA_NEAR_LEVELS(TYPE, MIN, MAX)                                                                            \
    PARTITA_INLINE uint32_t partita_near_##TYPE(struct partita_levels to, const float x[PARTITA_GROUP],                \
                                                uint32_t *digits)                                                      \
    {                                                                                                                  \
        float sums[PARTITA_GROUP];                                                                                     \
        PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_GROUP; i++) {                                                     \
            sums[i] = x[i] * to.inverse + to.base;                                                                     \
        }                                                                                                              \
        return partita_level_bytes(sums, PARTITA_LEVEL_BITS(MIN), PARTITA_LEVEL_BITS(MAX), digits);                    \
    }

PARTITA_NEAR_LEVELS(i8, INT8_MIN, INT8_MAX)
PARTITA_NEAR_LEVELS(u8, 0, UINT8_MAX)

#endif
