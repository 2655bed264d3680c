/*
 * 16-bit floats, as the bits of a uint16_t. Conversions to them round to nearest, ties to even.
 */
#ifndef PARTITA_HALF_H
#define PARTITA_HALF_H

#include "float_functions.h"

static inline float partita_from_f16(uint16_t half)
{
    const uint32_t sign = (half & 0x8000u) << 16;
    const uint32_t mantissa = half & 0x3ffu;
    const uint32_t exponent = (half >> 10) & 0x1fu;
    if (exponent == 0) {
        return partita_from_bits(sign | partita_bits((float)mantissa * 0x1p-24f));
    }
    return partita_from_bits(sign | (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23) | mantissa << 13);
}

static inline uint16_t partita_to_f16(float x)
{
    const uint32_t sign = (partita_bits(x) >> 16) & 0x8000u;
    const uint32_t magnitude = partita_bits(x) & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
        return (uint16_t)(sign | 0x7e00u);
    }
    if (magnitude >= 0x477ff000u) {
        return (uint16_t)(sign | 0x7c00u);
    }
    if (magnitude < 0x38800000u) {
        /* Below 2^-14, halves are multiples of 2^-24, as floats from 1/2 to 1 are. */
        return (uint16_t)(sign | (partita_bits(partita_from_bits(magnitude) + 0.5f) - 0x3f000000u));
    }
    return (uint16_t)(sign | ((magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23)) >> 13));
}

static inline float partita_from_bf16(uint16_t half)
{
    return partita_from_bits((uint32_t)half << 16);
}

static inline uint16_t partita_to_bf16(float x)
{
    const uint32_t bits = partita_bits(x);
    return (uint16_t)(x != x ? 0x7fc0u : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

#endif
