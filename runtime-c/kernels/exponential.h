/* e^x inline, for loops in which its constants stay in registers. u and bounds are those of float_functions.h. */
#ifndef PARTITA_EXPONENTIAL_H
#define PARTITA_EXPONENTIAL_H

#include "float_functions.h"

static const float PARTITA_LOG2_E = 1.44269504089f;
/* ln 2 in two parts; the upper one has 16 digits, so that its products with exponents are exact. */
static const float PARTITA_LN_2_UPPER = 0x1.62e4p-1f;
static const float PARTITA_LN_2_LOWER = 1.42860682031e-6f;

/* Added to a float below 2^22, leaves no fractional digits, so the addition rounds, half to even. */
static const float PARTITA_ROUNDER = 0x1.8p23f;

/* 2^exponent, for exponents from -126 to 127. */
static inline float partita_power_of_two(int32_t exponent)
{
    return partita_from_bits((uint32_t)(exponent + 127) << 23);
}

/*
 * x = exponent ln 2 + r; returns e^r - 1, for |x| < 2^21. The product with the upper part and its difference are exact, so
 * r is off by 0.25 u; the square's term by 3 u of at most 0.06, and the sum by 0.25 u of a float below 0.5.
 *
 * The polynomial is (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2: Chebyshev, relative error 1.4e-7, which is 0.2 u of e^r.
 */
static inline float partita_reduced_exponential(float x, int32_t *exponent)
{
    const float shifted = x * PARTITA_LOG2_E + PARTITA_ROUNDER;
    const float rounded = shifted - PARTITA_ROUNDER;
    const float r = (x - rounded * PARTITA_LN_2_UPPER) - rounded * PARTITA_LN_2_LOWER;
    *exponent = (int32_t)(partita_bits(shifted) - partita_bits(PARTITA_ROUNDER));
    float sum = 0.0013926926614f;
    sum = sum * r + 0.00836377387441f;
    sum = sum * r + 0.0416665501103f;
    sum = sum * r + 0.166665733819f;
    sum = sum * r + 0.5f;
    return r + r * r * sum;
}

/* x 2^exponent for x from 1/2 to 2: in two steps where 2^exponent or the result may be no normal float. */
static inline float partita_scaled(float x, int32_t exponent)
{
    if (exponent > -125 && exponent < 126) {
        return partita_from_bits(partita_bits(x) + ((uint32_t)exponent << 23));
    }
    const int32_t half = exponent / 2;
    return x * partita_power_of_two(half) * partita_power_of_two(exponent - half);
}

/* e^x for x <= 0 or NaN: 3 u. */
static inline float partita_exp_of_negative(float x)
{
    if (!(x >= -104.0f)) {
        return x != x ? x : 0.0f;
    }
    int32_t exponent;
    const float less_one = partita_reduced_exponential(x, &exponent);
    return partita_scaled(1.0f + less_one, exponent);
}

#endif
