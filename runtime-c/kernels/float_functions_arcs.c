#include "float_functions.h"

/* The polynomial with `count` coefficients, the highest first. */
static inline float polynomial(const float *coefficients, int32_t count, float x)
{
    float sum = coefficients[0];
    for (int32_t i = 1; i < count; i++) {
        sum = sum * x + coefficients[i];
    }
    return sum;
}

/* (asin(x) / x - 1) / x^2 as a polynomial in x^2 up to 1/4: Chebyshev, relative error of the sine's arc 1.8e-8. */
static const float ARC_SINE[] = {0.0382064506412f, 0.0264942776412f, 0.0450107008219f, 0.0749880895019f,
                                 0.166666731238f};
/* pi / 2 in two parts. */
static const float HALF_PI_UPPER = 1.57079637051f;
static const float HALF_PI_LOWER = -4.37113882867e-8f;

/* asin(x) for |x| <= 1/2, where `square` is x^2: 2 u. */
static inline float small_arc_sine(float x, float square)
{
    return x + x * square * polynomial(ARC_SINE, 5, square);
}

/* pi / 2 - 2 asin(sqrt((1 - |x|) / 2)) from 1/2 on: the difference is exact, and the root's arc is off by 3 u. */
float partita_asin(float x)
{
    const float magnitude = partita_absolute(x);
    if (!(magnitude <= 1.0f)) {
        return PARTITA_NAN;
    }
    if (magnitude <= 0.5f) {
        return small_arc_sine(x, x * x);
    }
    const float square = (1.0f - magnitude) / 2;
    const float rest = 2 * small_arc_sine(partita_sqrt(square), square);
    return partita_with_sign_of(HALF_PI_UPPER - (rest - HALF_PI_LOWER), x);
}

/* Near 1 uses the same root, so that nothing cancels. */
float partita_acos(float x)
{
    const float magnitude = partita_absolute(x);
    if (!(magnitude <= 1.0f)) {
        return PARTITA_NAN;
    }
    if (magnitude <= 0.5f) {
        return HALF_PI_UPPER - (small_arc_sine(x, x * x) - HALF_PI_LOWER);
    }
    const float square = (1.0f - magnitude) / 2;
    const float rest = 2 * small_arc_sine(partita_sqrt(square), square);
    return x < 0 ? 2 * HALF_PI_UPPER - (rest - 2 * HALF_PI_LOWER) : rest;
}

/* (atan(x) / x - 1) / x^2 as a polynomial in x^2 for |x| <= tan(pi / 8): Chebyshev, relative error 3.4e-9. */
static const float ARC_TANGENT[] = {-0.0645937621593f, 0.107462987304f, -0.142642319202f, 0.19999550283f,
                                    -0.333333313465f};

/* atan(x) = pi / 4 + atan((x - 1) / (x + 1)) = pi / 2 - atan(1 / x). */
float partita_atan(float x)
{
    const float magnitude = partita_absolute(x);
    float quarters = 0;
    float y = magnitude;
    if (magnitude > 2.41421356f) {
        quarters = 2;
        y = -1.0f / magnitude;
    } else if (magnitude > 0.414213562f) {
        quarters = 1;
        y = (magnitude - 1.0f) / (magnitude + 1.0f);
    }
    const float square = y * y;
    const float arc = y + y * square * polynomial(ARC_TANGENT, 5, square);
    const float sum = quarters * (HALF_PI_UPPER / 2) + (arc + quarters * (HALF_PI_LOWER / 2));
    return x != x ? x : partita_with_sign_of(sum, x);
}

/* ln(x + sqrt(x^2 + 1)); from 2^13 on, the root equals x up to 2^-27. */
float partita_asinh(float x)
{
    const float magnitude = partita_absolute(x);
    if (!(magnitude < 0x1p13f)) {
        return x != x ? x : partita_with_sign_of(partita_log(magnitude) + 0.69314718056f, x);
    }
    const float square = magnitude * magnitude;
    const float less_one = magnitude + square / (1.0f + partita_sqrt(square + 1.0f));
    return partita_with_sign_of(partita_log_1_plus(less_one), x);
}

/* ln(1 + t + sqrt(2 t + t^2)) with t = x - 1: nothing cancels. */
float partita_acosh(float x)
{
    if (!(x >= 1.0f)) {
        return PARTITA_NAN;
    }
    if (!(x < 0x1p13f)) {
        return partita_log(x) + 0.69314718056f;
    }
    const float t = x - 1.0f;
    return partita_log_1_plus(t + partita_sqrt(2 * t + t * t));
}

/* ln(1 + 2 |x| / (1 - |x|)) / 2 */
float partita_atanh(float x)
{
    const float magnitude = partita_absolute(x);
    if (!(magnitude <= 1.0f)) {
        return PARTITA_NAN;
    }
    return partita_with_sign_of(partita_log_1_plus(2 * magnitude / (1.0f - magnitude)) / 2, x);
}
