#include "exponential.h"

static const float ROOT_HALF = 0.707106781187f;

/* All floats from here on are integers. */
static const float ALL_INTEGERS = 0x1p23f;

/* The polynomial with `count` coefficients, the highest first. */
static inline float polynomial(const float *coefficients, int32_t count, float x)
{
    float sum = coefficients[0];
    for (int32_t i = 1; i < count; i++) {
        sum = sum * x + coefficients[i];
    }
    return sum;
}

float partita_floor(float x)
{
    if (!(partita_absolute(x) < ALL_INTEGERS)) {
        return x;
    }
    const float cut = (float)(int32_t)x;
    return partita_with_sign_of(cut > x ? cut - 1 : cut, x);
}

float partita_ceil(float x)
{
    return -partita_floor(-x);
}

float partita_round(float x)
{
    const float magnitude = partita_absolute(x);
    if (!(magnitude < ALL_INTEGERS)) {
        return x;
    }
    /* The sum has no fractional digits, so the addition rounds. */
    const float shifted = magnitude + ALL_INTEGERS;
    return partita_with_sign_of(shifted - ALL_INTEGERS, x);
}

float partita_sign(float x)
{
    return x > 0 ? 1.0f : x < 0 ? -1.0f : x;
}

/* 2^exponent, for exponents from -126 to 127. */
static inline float power_of_two(int32_t exponent)
{
    return partita_from_bits((uint32_t)(exponent + 127) << 23);
}

/* In two steps, as 2^exponent may be no normal float. */
static inline float scaled(float x, int32_t exponent)
{
    const int32_t half = exponent / 2;
    return x * power_of_two(half) * power_of_two(exponent - half);
}

float partita_exp(float x)
{
    float sum;
    float slope;
    if (partita_exponentials(&x, 1)) {
        return x;
    }
    if (!(x < 89.0f)) {
        return x + PARTITA_INFINITY;
    }
    if (x < -104.0f) {
        return 0;
    }
    partita_reduce(1.0f, &x, &sum, &slope, 1);
    return scaled(x * slope + 1.0f, partita_exponent(sum));
}

/* 2^k (e^r - 1) + (2^k - 1): the worst place is r = -ln 2 / 2 with k = 1, where both nearly cancel. */
float partita_exp_minus_1(float x)
{
    float sum;
    float slope;
    if (!(x < 40.0f)) {
        return partita_exp(x);
    }
    if (x < -18.0f) {
        return -1;
    }
    partita_reduce(1.0f, &x, &sum, &slope, 1);
    const float less_one = x * slope;
    const float power = partita_power_of_two(sum);
    return partita_exponent(sum) == 0 ? less_one : power * less_one + (power - 1.0f);
}

/* (E + E / (E + 1)) / 2 with E = e^|x| - 1: nothing cancels. */
float partita_sinh(float x)
{
    const float magnitude = partita_absolute(x);
    if (magnitude > 40.0f) {
        /* e^|x| / 2, which is finite even where e^|x| overflows. */
        const float root = partita_exp(magnitude / 2);
        return partita_with_sign_of(root / 2 * root, x);
    }
    const float grown = partita_exp_minus_1(magnitude);
    return partita_with_sign_of((grown + grown / (grown + 1.0f)) / 2, x);
}

/* (ln(1 + f) - f + f^2 / 2) / f^3 for 1 + f from sqrt(1/2) to sqrt(2): Chebyshev, relative error 6.9e-8. */
static const float LOGARITHM[] = {0.0697161147145f, -0.114797338466f, 0.116854199235f,
                                  -0.124256873315f, 0.142490576457f,  -0.166678023195f,
                                  0.200007157489f,  -0.24999996958f,  0.3333333118f};

float partita_log(float x)
{
    int32_t exponent = 0;
    if (!(x > 0)) {
        return x == 0 ? -PARTITA_INFINITY : PARTITA_NAN;
    }
    if (x == PARTITA_INFINITY) {
        return x;
    }
    if (x < 0x1p-126f) {
        x *= 0x1p23f;
        exponent = -23;
    }
    /* Maps sqrt(1/2) to 1/2, so that 1 is near neither end. */
    const uint32_t bits = partita_bits(x) - 0x3f3504f3u;
    exponent += (int32_t)bits >> 23;
    const float f = partita_from_bits((bits & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
    const float power = (float)exponent;
    const float square = f * f;
    const float tail = square * f * polynomial(LOGARITHM, 9, f) - square / 2 + power * PARTITA_LN_2_LOWER;
    return power * PARTITA_LN_2_UPPER + (f + tail);
}

/* ln(w) x / (w - 1) with w = 1 + x rounded: ln(w) / (w - 1) hardly changes with the rounding (W. Kahan). */
float partita_log_1_plus(float x)
{
    if (!(x < 0x1p25f)) {
        return partita_log(x);
    }
    const float sum = 1.0f + x;
    const float w = sum;
    return w == 1.0f ? x : partita_log(w) * (x / (w - 1.0f));
}

/* Binary digits of 2 / pi, after 32 zeros. */
static const uint32_t TWO_OVER_PI[] = {0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                       0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};

/*
 * x = quarter pi / 2 + r with |r| <= pi / 4, for |x| >= 1/2; returns r, off by 2.5 u and 2^-61 absolute. Multiplies
 * the 24 digits of x with those 96 digits of 2 / pi that matter: earlier digits contribute only multiples of 4
 * (M. Payne and R. Hanek, 1983).
 */
static float reduced_angle(float x, int32_t *quarter)
{
    const uint32_t bits = partita_bits(x) & 0x7fffffffu;
    const uint32_t digits = (bits & 0x7fffffu) | 0x800000u;
    /* |x| = digits 2^shift; digit j of 2 / pi has the weight 2^-j. Uses digits from j = shift - 1 on. */
    const int32_t shift = (int32_t)(bits >> 23) - 150;
    const int32_t start = shift - 1 + 31;
    const int32_t word = start >> 5;
    const int32_t ahead = start & 31;
    uint32_t window[3];
    for (int32_t i = 0; i < 3; i++) {
        const uint64_t both = (uint64_t)TWO_OVER_PI[word + i] << 32 | TWO_OVER_PI[word + i + 1];
        window[i] = (uint32_t)(both >> (32 - ahead));
    }
    const uint64_t lower = (uint64_t)digits * window[2];
    const uint64_t middle = (uint64_t)digits * window[1] + (lower >> 32);
    /* Fixed point modulo 4, with 62 digits after the point. */
    const uint64_t turned = ((uint64_t)(digits * window[0]) << 32) + middle;
    const uint64_t nearest = (turned + ((uint64_t)1 << 61)) >> 62;
    const int64_t rest = (int64_t)(turned - (nearest << 62));
    const float r = (float)rest * 3.40612158009e-19f; /* pi / 2 2^-62 */
    *quarter = (int32_t)(nearest & 3u);
    if ((partita_bits(x) & 0x80000000u) != 0) {
        *quarter = -*quarter & 3;
        return -r;
    }
    return r;
}

/* (sin(r) / r - 1) / r^2 and (cos(r) - 1 + r^2 / 2) / r^4 as polynomials in r^2: relative errors 1.3e-7 and 5e-8. */
static const float SINE[] = {-0.000195853732067f, 0.00833273655918f, -0.166666646018f};
static const float COSINE[] = {2.45454190784e-5f, -0.00138882913006f, 0.0416666645988f};

/* The sine of r + quarter pi / 2. */
static float sine_of(float r, int32_t quarter)
{
    const float square = r * r;
    const float value = (quarter & 1) != 0 ? 1.0f - (square / 2 - square * square * polynomial(COSINE, 3, square))
                                           : r + r * square * polynomial(SINE, 3, square);
    return (quarter & 2) != 0 ? -value : value;
}

/* Below pi / 4 an angle is its own remainder. */
static float angle(float x, int32_t *quarter)
{
    *quarter = 0;
    return partita_absolute(x) <= 0.785398f ? x : reduced_angle(x, quarter);
}

float partita_sin(float x)
{
    int32_t quarter;
    if (!(partita_absolute(x) < PARTITA_INFINITY)) {
        return PARTITA_NAN;
    }
    const float r = angle(x, &quarter);
    return sine_of(r, quarter);
}

float partita_cos(float x)
{
    int32_t quarter;
    if (!(partita_absolute(x) < PARTITA_INFINITY)) {
        return PARTITA_NAN;
    }
    const float r = angle(x, &quarter);
    return sine_of(r, quarter + 1);
}

float partita_tan(float x)
{
    int32_t quarter;
    if (!(partita_absolute(x) < PARTITA_INFINITY)) {
        return PARTITA_NAN;
    }
    const float r = angle(x, &quarter);
    return sine_of(r, quarter) / sine_of(r, quarter + 1);
}

float partita_tanh(float x)
{
    return partita_tanhs(&x, 1) ? x : x != x ? x : partita_with_sign_of(1.0f, x);
}

/* erf(x) / x as a polynomial in x^2 for |x| <= 1: Chebyshev, relative error 1.4e-9. */
static const float ERROR_FUNCTION[] = {7.87587506269e-5f, -0.000801686428717f, 0.00518908742343f, -0.0268542120106f,
                                       0.112835947152f,   -0.376126266667f,    1.12837916585f};

/* e^x^2 erfc(x) / t as a polynomial in t = 1 / (1 + x / 2) for x from 1 to 10.2: relative error 1.2e-8. */
static const float ERROR_COMPLEMENT[] = {0.0937973734318f, -0.227164345671f, 0.083567483717f, 0.0602706202606f,
                                         0.179061805683f,  0.24690134204f,   0.282046979968f, 0.282098049015f};

/*
 * e^-x^2 as e^-h^2 e^-(x-h)(x+h), where h has 12 digits and its square is exact: 7 u. The polynomial and t, which
 * enters twice, 8 u.
 */
float partita_erf_complement(float x)
{
    if (x > 10.1f) {
        return 0;
    }
    const float upper = partita_from_bits(partita_bits(x) & 0xfffff000u);
    const float exponential = partita_exp(-upper * upper) * partita_exp((upper - x) * (upper + x));
    const float t = 1.0f / (1.0f + x / 2);
    return exponential * (t * polynomial(ERROR_COMPLEMENT, 8, t));
}

float partita_erf(float x)
{
    const float magnitude = partita_absolute(x);
    if (magnitude > 4.0f) {
        return partita_with_sign_of(1.0f, x);
    }
    if (!(magnitude > 1.0f)) {
        return x * polynomial(ERROR_FUNCTION, 7, x * x);
    }
    return partita_with_sign_of(1.0f - partita_erf_complement(magnitude), x);
}

/* Where e^-x is more than 2^125, it's e^x. */
float partita_sigmoid(float x)
{
    return partita_sigmoids(&x, 1) ? x : x > 0 ? 1.0f : partita_exp(x);
}

float partita_softplus(float x)
{
    const float rest = partita_log_1_plus(partita_exp(-partita_absolute(x)));
    return x > 0 ? x + rest : rest;
}

/* Below -6, the argument's rounding gives 3 u for each unit of its square. */
float partita_gelu(float x)
{
    return partita_gelus(&x, 1) ? x : x / 2 * partita_erf_complement(-x * ROOT_HALF);
}

float partita_gelu_tanh(float x)
{
    const float argument = x * (2 * 0.797884560803f + 2 * 0.0356774081363f * (x * x));
    return partita_tanh_gelus(&x, 1) ? x : x * partita_sigmoid(argument);
}

float partita_silu(float x)
{
    return partita_silus(&x, 1) ? x : x * partita_sigmoid(x);
}

float partita_hard_swish(float x)
{
    return x * partita_maximum(partita_minimum(x / 6.0f + 0.5f, 1.0f), 0.0f);
}

float partita_quick_gelu(float x)
{
    return partita_quick_gelus(&x, 1) ? x : x * partita_sigmoid(1.702f * x);
}

/* Whether x is an integer, and whether it is odd. */
static void integrality(float x, int32_t *integral, int32_t *odd)
{
    const float magnitude = partita_absolute(x);
    *integral = partita_floor(magnitude) == magnitude;
    *odd = *integral && magnitude < 0x1p24f && ((int32_t)magnitude & 1) != 0;
}

/* A small integer power by products, each of which rounds; other powers as e^(exponent ln |base|). */
float partita_power(float base, float exponent)
{
    int32_t integral;
    int32_t odd;
    const float magnitude = partita_absolute(base);
    integrality(exponent, &integral, &odd);
    if (exponent == 0 || base == 1.0f) {
        return 1.0f;
    }
    if (base != base || exponent != exponent) {
        return PARTITA_NAN;
    }
    if (magnitude == 1.0f && partita_absolute(exponent) == PARTITA_INFINITY) {
        return 1.0f;
    }
    if (base < 0 && base > -PARTITA_INFINITY && !integral) {
        return PARTITA_NAN;
    }
    float result;
    if (integral && partita_absolute(exponent) <= 8.0f) {
        const float factor = exponent < 0 ? 1.0f / magnitude : magnitude;
        result = factor;
        for (int32_t i = (int32_t)partita_absolute(exponent); i > 1; i--) {
            result *= factor;
        }
    } else {
        result = partita_exp(exponent * partita_log(magnitude));
    }
    return odd && (partita_bits(base) & 0x80000000u) != 0 ? -result : result;
}
