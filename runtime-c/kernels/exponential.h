/*
 * e^x and functions of it inline, for loops in which constants stay in registers. u and bounds are those of float_functions.h.
 *
 * Each step is taken for all numbers of a group before the next one, so that none waits for the last. A group fails if a
 * number isn't within the range of its function, and is left to the function of float_functions.h, which begins with a group
 * of one, so that it has the same bits.
 */
#ifndef PARTITA_EXPONENTIAL_H
#define PARTITA_EXPONENTIAL_H

#include "float_functions.h"
#include "kernel.h"

#ifdef PARTITA_XPULP

/* fmv.x.w: the bits of a float, which stays in its register too. */
static inline uint32_t partita_moved_bits(float x)
{
    uint32_t bits;
    __asm__("fmv.x.w %0, %1" : "=r"(bits) : "f"(x));
    return bits;
}

/* fmv.w.x: the float with these bits, in a register of floats, however often it's used. */
static inline float partita_moved_float(uint32_t bits)
{
    float x;
    __asm__("fmv.w.x %0, %1" : "=f"(x) : "r"(bits));
    return x;
}

/* fmax.s: the greater of two floats, or the other one if one is NaN. */
static inline float partita_greater(float x, float y)
{
    float greater;
    __asm__("fmax.s %0, %1, %2" : "=f"(greater) : "f"(x), "f"(y));
    return greater;
}

#else

static inline uint32_t partita_moved_bits(float x)
{
    return partita_bits(x);
}

static inline float partita_moved_float(uint32_t bits)
{
    return partita_from_bits(bits);
}

static inline float partita_greater(float x, float y)
{
    return x > y || y != y ? x : y;
}

#endif

static const float PARTITA_LOG2_E = 1.44269504089f;
/* ln 2 in two parts; the upper one has 16 digits, so that its products with exponents are exact. */
static const float PARTITA_LN_2_UPPER = 0x1.62e4p-1f;
static const float PARTITA_LN_2_LOWER = 1.42860682031e-6f;

/* Added to a float below 2^22, leaves no fractional digits, so the addition rounds, half to even. */
static const float PARTITA_ROUNDER = 0x1.8p23f;

/*
 * For each of `count` numbers, with factor x = exponent ln 2 + factor r: replaces x by r, and finds a sum whose last digits are
 * the exponent's, and the slope (e^(factor r) - 1) / r. The factor is a constant and plus or minus a power of two.
 *
 * |factor x| < 2^21, so the product with the upper part of ln 2 and its difference are exact, and factor r is off by 0.25 u; it's
 * exact if the exponent is 0. The polynomial is (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2: Chebyshev, relative error 1.4e-7, which
 * is 0.2 u of e^r and 0.4 u of e^r - 1. Roundings of the slope add 0.7 u below 1, and 1.4 u up to its largest value, 1.2.
 */
PARTITA_INLINE void partita_reduce(float factor, float *x, float *sums, float *slopes, int32_t count)
{
    const float square = factor * factor;
    const float coefficients[] = {0.00836377387441f * square * square * factor, 0.0416665501103f * square * square,
                                  0.166665733819f * square * factor, 0.5f * square, factor};
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        sums[i] = x[i] * (factor * PARTITA_LOG2_E) + PARTITA_ROUNDER;
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        slopes[i] = sums[i] - PARTITA_ROUNDER;
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        x[i] -= slopes[i] * (PARTITA_LN_2_UPPER / factor);
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        x[i] -= slopes[i] * (PARTITA_LN_2_LOWER / factor);
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        slopes[i] = x[i] * (0.0013926926614f * square * square * square) + coefficients[0];
    }
    PARTITA_UNROLLED (int32_t degree = 1; degree < 5; degree++) {
        PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
            slopes[i] = slopes[i] * x[i] + coefficients[degree];
        }
    }
}

static inline int32_t partita_exponent(float sum)
{
    return (int32_t)(partita_moved_bits(sum) - partita_bits(PARTITA_ROUNDER));
}

/* 2^exponent, for exponents from -126 to 127; the upper digits of the sum are lost. */
static inline float partita_power_of_two(float sum)
{
    return partita_moved_float((partita_moved_bits(sum) << 23) + partita_bits(1.0f));
}

/* The largest magnitude of exponents for which 2^exponent, its half, its double and their inverses are normal. */
enum { PARTITA_MOST_EXPONENT = 125 };

/* Whether no number is NaN or has an exponent beyond that. */
PARTITA_INLINE int32_t partita_are_near(const float *sums, int32_t count)
{
    int32_t beyond = 0; /* negative if a difference is */
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        const uint32_t above = (uint32_t)partita_exponent(sums[i]) + PARTITA_MOST_EXPONENT;
        beyond |= (int32_t)(above | (2 * PARTITA_MOST_EXPONENT - above));
    }
    return beyond >= 0;
}

/*
 * Replaces numbers x by e^x: 2 u, or returns 0. Below 1, that is 0.3 u of the slope, 0.3 u of its product, 0.5 u of the sum, all
 * relative to 0.7, and 0.5 u of r and the polynomial.
 */
PARTITA_INLINE int32_t partita_exponentials(float *x, int32_t count)
{
    float rests[PARTITA_GROUP];
    float sums[PARTITA_GROUP];
    float slopes[PARTITA_GROUP];
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        rests[i] = x[i];
    }
    partita_reduce(1.0f, rests, sums, slopes, count);
    if (!partita_are_near(sums, count)) {
        return 0;
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        slopes[i] = rests[i] * slopes[i] + 1.0f;
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        x[i] = partita_moved_float(partita_moved_bits(slopes[i]) + (partita_moved_bits(sums[i]) << 23));
    }
    return 1;
}

/*
 * Newton's iteration for inverses of numbers x from 1 to 2^126: r (2 - x r) for the first r, which has the bits of a constant less
 * those of x and is off by 5 %. With slightly more than 2, errors of both signs are below 0.0014, and their third powers below
 * 0.05 u: 1 / x is r + r (e + e^2) with e = 1 - x r. Finds r and e + e^2, which is off by 1.1 u.
 */
PARTITA_INLINE void partita_near_inverses(const float *x, float *inverses, float *errors, int32_t count)
{
    const uint32_t first = 0x7ef34000u;
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        inverses[i] = partita_moved_float(first - partita_moved_bits(x[i]));
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        errors[i] = 2.00125f - x[i] * inverses[i];
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        inverses[i] *= errors[i];
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        errors[i] = 1.0f - x[i] * inverses[i];
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        errors[i] = errors[i] * errors[i] + errors[i];
    }
}

/*
 * Replaces numbers x by 1 / (1 + e^-x), or returns 0: 2 u of the exponential, 1 u of the sum, and 2.2 u of the inverse, of which
 * 1 u is its last rounding.
 */
PARTITA_INLINE int32_t partita_sigmoids(float *x, int32_t count)
{
    float rests[PARTITA_GROUP];
    float sums[PARTITA_GROUP];
    float slopes[PARTITA_GROUP];
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        rests[i] = x[i];
    }
    partita_reduce(-1.0f, rests, sums, slopes, count);
    if (!partita_are_near(sums, count)) {
        return 0;
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        slopes[i] = rests[i] * slopes[i] + 1.0f;
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        slopes[i] = slopes[i] * partita_power_of_two(sums[i]) + 1.0f;
    }
    partita_near_inverses(slopes, rests, sums, count);
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        x[i] = rests[i] + rests[i] * sums[i];
    }
    return 1;
}

/* Replaces numbers x by x sigmoid(x), or returns 0. */
PARTITA_INLINE int32_t partita_silus(float *x, int32_t count)
{
    float sigmoids[PARTITA_GROUP];
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        sigmoids[i] = x[i];
    }
    if (!partita_sigmoids(sigmoids, count)) {
        return 0;
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        x[i] *= sigmoids[i];
    }
    return 1;
}

/* Replaces numbers x by x sigmoid(1.702 x), or returns 0. */
PARTITA_INLINE int32_t partita_quick_gelus(float *x, int32_t count)
{
    float sigmoids[PARTITA_GROUP];
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        sigmoids[i] = 1.702f * x[i];
    }
    if (!partita_sigmoids(sigmoids, count)) {
        return 0;
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        x[i] *= sigmoids[i];
    }
    return 1;
}

/*
 * Replaces numbers x by x (1 + tanh(y)) / 2 with y = sqrt(2 / pi) (x + 0.044715 x^3), or returns 0. That is x sigmoid(2 y): y is
 * off by 4 u, which gives 8 |y| u where the sigmoid is an exponential.
 */
PARTITA_INLINE int32_t partita_tanh_gelus(float *x, int32_t count)
{
    float sigmoids[PARTITA_GROUP];
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        sigmoids[i] = x[i] * x[i];
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        sigmoids[i] = 2 * 0.797884560803f + 2 * 0.0356774081363f * sigmoids[i];
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        sigmoids[i] *= x[i];
    }
    if (!partita_sigmoids(sigmoids, count)) {
        return 0;
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        x[i] *= sigmoids[i];
    }
    return 1;
}

/*
 * Replaces numbers x by tanh(x) = E / (E + 2) with E = e^2x - 1, or returns 0. E is 2^k (e^r - 1) + (2^k - 1), off by 2.8 u if k
 * is 0, by 3.6 u in the worst place, r = -ln 2 / 2 with k = 1, where both nearly cancel, and by less below 0, where the quotient
 * amplifies that by 1.2 at most where it's not small. The sum adds 1 u, and the quotient 3.2 u, of which 2 u are those of products
 * with E.
 */
PARTITA_INLINE int32_t partita_tanhs(float *x, int32_t count)
{
    float rests[PARTITA_GROUP];
    float sums[PARTITA_GROUP];
    float slopes[PARTITA_GROUP];
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        rests[i] = x[i];
    }
    partita_reduce(2.0f, rests, sums, slopes, count);
    if (!partita_are_near(sums, count)) {
        return 0;
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        rests[i] *= slopes[i];
        sums[i] = partita_power_of_two(sums[i]);
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        slopes[i] = sums[i] - 1.0f;
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        x[i] = rests[i] * sums[i] + slopes[i];
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        sums[i] = x[i] + 2.0f;
    }
    partita_near_inverses(sums, rests, slopes, count);
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        rests[i] *= x[i];
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        x[i] = rests[i] + rests[i] * slopes[i];
    }
    return 1;
}

/*
 * Replaces numbers x by x (1 + erf(x / sqrt(2))) / 2, or returns 0: fails below -6. That is max(x, 0) - m 2^-T with m = |x|, where
 * 2^-T is the normal distribution's tail. T is c m^2, with a constant c of log2(e) / 2, and a polynomial in m, fitted with the
 * weight 20 + m^2. Beyond 6 the tail is that at 6, which adds 2^-27 of x at most.
 *
 * 2^f is off by 4 u, of which the polynomial has 1.6 u, and the product and the difference add 2 u. Half the last digits of all
 * numbers of T, added up for each m, leave at least 30 u of the other (34 + 2 m^2) u, and the polynomial of T takes 0.89 of what
 * they leave.
 */
PARTITA_INLINE int32_t partita_gelus(float *x, int32_t count)
{
    const float furthest = 6.0f;
    const float tails[] = {1.40342911e-06f, -1.39672693e-05f, 3.399138222e-05f, 0.0005951222847f, -0.007820819505f,
                           0.05317574739f,  -0.2624393404f,   1.15115571f,      0.9999986291f};
    const float powers[] = {0.00967151264f, 0.0555073374f, 0.240222421f, 0.693146978f, 1.0f};
    float magnitudes[PARTITA_GROUP];
    float sums[PARTITA_GROUP];
    float rests[PARTITA_GROUP];
    int32_t beyond = 0; /* negative if a number is below -6 */
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        const uint32_t bits = partita_moved_bits(x[i]);
        const int32_t left = (int32_t)(partita_bits(furthest) - (bits & 0x7fffffffu));
        beyond |= left & (int32_t)bits;
        magnitudes[i] = partita_moved_float(partita_bits(furthest) - (uint32_t)(left & ~(left >> 31)));
    }
    if (beyond < 0) {
        return 0;
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        sums[i] = magnitudes[i] * -5.178058871e-08f + tails[0];
    }
    PARTITA_UNROLLED (int32_t degree = 1; degree < 8; degree++) {
        PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
            sums[i] = sums[i] * magnitudes[i] + tails[degree];
        }
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        sums[i] = sums[i] * magnitudes[i] + tails[8];
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        rests[i] = magnitudes[i] * magnitudes[i];
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        rests[i] = rests[i] * 0.721347520444f + sums[i];
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        sums[i] = rests[i] + PARTITA_ROUNDER;
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        rests[i] = (sums[i] - PARTITA_ROUNDER) - rests[i];
    }
    float slopes[PARTITA_GROUP];
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        slopes[i] = rests[i] * 0.00132647272f + powers[0];
    }
    PARTITA_UNROLLED (int32_t degree = 1; degree < 5; degree++) {
        PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
            slopes[i] = slopes[i] * rests[i] + powers[degree];
        }
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        slopes[i] = partita_moved_float(partita_moved_bits(slopes[i]) - (partita_moved_bits(sums[i]) << 23));
        const int32_t bits = (int32_t)partita_moved_bits(x[i]);
        x[i] = partita_moved_float((uint32_t)(bits & ~(bits >> 31)));
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        x[i] -= magnitudes[i] * slopes[i];
    }
    return 1;
}

#endif
