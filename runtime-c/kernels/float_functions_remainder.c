#include "float_functions.h"

/* digits 2^exponent, exactly, of a finite magnitude. */
static inline uint32_t taken_apart(float magnitude, int32_t *exponent)
{
    const uint32_t bits = partita_bits(magnitude);
    const uint32_t upper = bits >> 23;
    *exponent = (int32_t)(upper == 0 ? 1u : upper) - 150;
    return (bits & 0x7fffffu) | (upper == 0 ? 0u : 0x800000u);
}

/* Long division of the digits, eight at a time. */
float partita_remainder(float x, float y)
{
    const float divisor = partita_absolute(y);
    if (!(partita_absolute(x) < PARTITA_INFINITY) || !(divisor > 0)) {
        return PARTITA_NAN;
    }
    if (partita_absolute(x) < divisor) {
        return x;
    }
    int32_t exponent;
    int32_t last;
    uint32_t digits = taken_apart(partita_absolute(x), &exponent);
    const uint32_t by = taken_apart(divisor, &last);
    digits %= by;
    for (int32_t left = exponent - last; left > 0;) {
        const int32_t step = left < 8 ? left : 8;
        digits = (digits << step) % by;
        left -= step;
    }
    /* In two steps, as 2^last may be no normal float; both products are exact. */
    const int32_t half = last / 2;
    const float result = (float)digits * partita_from_bits((uint32_t)(half + 127) << 23) *
                         partita_from_bits((uint32_t)(last - half + 127) << 23);
    return partita_with_sign_of(result, x);
}

float partita_modulo(float x, float y)
{
    const float rest = partita_remainder(x, y);
    if (rest == 0) {
        return partita_with_sign_of(0, y);
    }
    return (rest < 0) != (y < 0) ? rest + y : rest;
}
