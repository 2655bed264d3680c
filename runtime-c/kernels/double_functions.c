#include "double_functions.h"

/* All doubles from here on are integers. */
static const double ALL_INTEGERS = 0x1p52;
static const double LOG2_E = 1.44269504088896338700;
/* ln 2 in two parts; the upper one has 32 digits, so that its products with exponents are exact. */
static const double LN_2_UPPER = 6.93147180369123816490e-1;
static const double LN_2_LOWER = 1.90821492927058770002e-10;

/* 2^exponent, for exponents from -1022 to 1023. */
static inline double power_of_two(int32_t exponent)
{
    return partita_double_from_bits((uint64_t)(exponent + 1023) << 52);
}

/* In two steps, as 2^exponent may be no normal double. */
static inline double scaled(double x, int32_t exponent)
{
    const int32_t half = exponent / 2;
    return x * power_of_two(half) * power_of_two(exponent - half);
}

double partita_double_floor(double x)
{
    if (!(partita_double_absolute(x) < ALL_INTEGERS)) {
        return x;
    }
    const double cut = (double)(int64_t)x;
    return partita_double_with_sign_of(cut > x ? cut - 1 : cut, x);
}

double partita_double_ceil(double x)
{
    return -partita_double_floor(-x);
}

double partita_double_round(double x)
{
    const double magnitude = partita_double_absolute(x);
    if (!(magnitude < ALL_INTEGERS)) {
        return x;
    }
    /* The sum has no fractional digits, so the addition rounds. */
    const double shifted = magnitude + ALL_INTEGERS;
    return partita_double_with_sign_of(shifted - ALL_INTEGERS, x);
}

double partita_double_sign(double x)
{
    return x > 0 ? 1.0 : x < 0 ? -1.0 : x;
}

/* digits 2^exponent, exactly, of a finite magnitude. */
static uint64_t taken_apart(double magnitude, int32_t *exponent)
{
    const uint64_t bits = partita_double_bits(magnitude);
    const uint32_t upper = (uint32_t)(bits >> 52);
    *exponent = (int32_t)(upper == 0 ? 1u : upper) - 1075;
    return (bits & 0xfffffffffffffu) | (upper == 0 ? 0u : 0x10000000000000u);
}

/* Computes 54 digits of the root one by one; the last one rounds. A tie is impossible. */
double partita_double_sqrt(double x)
{
    int32_t exponent;
    if (!(x > 0)) {
        return x == 0 ? x : PARTITA_DOUBLE_NAN;
    }
    if (x == PARTITA_DOUBLE_INFINITY) {
        return x;
    }
    uint64_t digits = taken_apart(x, &exponent);
    while (digits < 0x10000000000000u) {
        digits <<= 1;
        exponent--;
    }
    if ((exponent & 1) != 0) {
        digits <<= 1;
        exponent--;
    }
    /* The value has 54 digits, the first of which may be 0, followed by 54 zeros. */
    uint64_t root = 0;
    uint64_t rest = 0;
    for (int32_t shift = 52; shift > -56; shift -= 2) {
        rest = rest << 2 | (shift >= 0 ? digits >> shift & 3u : 0u);
        const uint64_t trial = root << 2 | 1u;
        root <<= 1;
        if (rest >= trial) {
            rest -= trial;
            root |= 1u;
        }
    }
    return scaled((double)((root + 1) >> 1), (exponent - 52) / 2);
}

/* e^x = 2^exponent e^r with |r| <= ln 2 / 2: the series up to r^13, whose remainder is below 2^-57. */
double partita_double_exp(double x)
{
    if (!(x < 710.0)) {
        return x + PARTITA_DOUBLE_INFINITY;
    }
    if (x < -746.0) {
        return 0;
    }
    const double rounded = partita_double_round(x * LOG2_E);
    const double r = (x - rounded * LN_2_UPPER) - rounded * LN_2_LOWER;
    double sum = 1.0;
    for (int32_t n = 13; n > 1; n--) {
        sum = 1.0 + sum * r / n;
    }
    return scaled(1.0 + r * sum, (int32_t)rounded);
}

/* ln(1 + f) = 2 atanh(s) with s = f / (2 + f): the series up to s^21, whose remainder is below 2^-60. */
double partita_double_log(double x)
{
    int32_t exponent = 0;
    if (!(x > 0)) {
        return x == 0 ? -PARTITA_DOUBLE_INFINITY : PARTITA_DOUBLE_NAN;
    }
    if (x == PARTITA_DOUBLE_INFINITY) {
        return x;
    }
    if (x < 0x1p-1022) {
        x *= 0x1p52;
        exponent = -52;
    }
    /* Maps sqrt(1/2) to 1/2, so that 1 is near neither end. */
    const uint64_t bits = partita_double_bits(x) - 0x3fe6a09e667f3bcdu;
    exponent += (int32_t)((int64_t)bits >> 52);
    const double f = partita_double_from_bits((bits & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1.0;
    const double s = f / (2.0 + f);
    const double square = s * s;
    double sum = 0;
    for (int32_t n = 21; n > 1; n -= 2) {
        sum = (sum + 1.0 / n) * square;
    }
    /* 2 s = f - s f, where f is exact. */
    const double tail = (double)exponent * LN_2_LOWER - (s * f - 2 * s * sum);
    return (double)exponent * LN_2_UPPER + (f + tail);
}

/* Long division of the digits, eight at a time. */
double partita_double_remainder(double x, double y)
{
    const double divisor = partita_double_absolute(y);
    if (!(partita_double_absolute(x) < PARTITA_DOUBLE_INFINITY) || !(divisor > 0)) {
        return PARTITA_DOUBLE_NAN;
    }
    if (partita_double_absolute(x) < divisor) {
        return x;
    }
    int32_t exponent;
    int32_t last;
    uint64_t digits = taken_apart(partita_double_absolute(x), &exponent);
    const uint64_t by = taken_apart(divisor, &last);
    digits %= by;
    for (int32_t left = exponent - last; left > 0;) {
        const int32_t step = left < 8 ? left : 8;
        digits = (digits << step) % by;
        left -= step;
    }
    return partita_double_with_sign_of(scaled((double)digits, last), x);
}

double partita_double_modulo(double x, double y)
{
    const double rest = partita_double_remainder(x, y);
    if (rest == 0) {
        return partita_double_with_sign_of(0, y);
    }
    return (rest < 0) != (y < 0) ? rest + y : rest;
}

/* base^|exponent| for a positive base: the integer part by squaring, the fraction by roots. */
static double positive_power(double base, double exponent)
{
    double whole = partita_double_floor(exponent);
    double rest = exponent - whole;
    double result = 1.0;
    for (double square = base; whole > 0 && square != 1.0; square *= square) {
        const double half = partita_double_floor(whole / 2);
        result *= half * 2 != whole ? square : 1.0;
        whole = half;
    }
    for (double root = base; rest > 0 && root != 1.0;) {
        root = partita_double_sqrt(root);
        rest *= 2;
        if (rest >= 1.0) {
            result *= root;
            rest -= 1.0;
        }
    }
    return result;
}

double partita_double_power(double base, double exponent)
{
    const double magnitude = partita_double_absolute(base);
    const double times = partita_double_absolute(exponent);
    if (exponent == 0 || base == 1.0 || (magnitude == 1.0 && times == PARTITA_DOUBLE_INFINITY)) {
        return 1.0;
    }
    if (base != base || exponent != exponent) {
        return PARTITA_DOUBLE_NAN;
    }
    const int32_t integral = partita_double_floor(times) == times;
    const int32_t odd = integral && partita_double_floor(times / 2) * 2 != times;
    if (base < 0 && base > -PARTITA_DOUBLE_INFINITY && !integral) {
        return PARTITA_DOUBLE_NAN;
    }
    double result;
    if (times == PARTITA_DOUBLE_INFINITY || magnitude == 0 || magnitude == PARTITA_DOUBLE_INFINITY) {
        result = (magnitude > 1.0) == (exponent > 0) ? PARTITA_DOUBLE_INFINITY : 0;
    } else {
        result = exponent < 0 ? 1.0 / positive_power(magnitude, times) : positive_power(magnitude, times);
    }
    return odd && partita_double_bits(base) >> 63 != 0 ? -result : result;
}

float partita_double_to_odd(double x)
{
    const float nearest = (float)x;
    const double back = (double)nearest;
    union {
        float value;
        uint32_t bits;
    } both = {.value = nearest};
    if (back == x || x != x || (both.bits & 1u) != 0) {
        return nearest;
    }
    /* The other neighbour of x is odd: away from 0 if `nearest` was truncated, else towards 0. */
    const int32_t is_cut = partita_double_absolute(back) < partita_double_absolute(x);
    both.bits = is_cut ? both.bits + 1u : both.bits - 1u;
    return both.value;
}
