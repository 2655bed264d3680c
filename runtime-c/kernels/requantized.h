/*
 * Requantisation of i32 sums, in the order of ir's IntegerNetwork.Requantize, for the kernels that end with it.
 */
#ifndef PARTITA_REQUANTIZED_H
#define PARTITA_REQUANTIZED_H

#include "simd.h"

/* What all elements share, as a local of a kernel: a store of bytes might change what a pointer points to. */
struct partita_requantized {
    int64_t half; /* 2^shift / 2 */
    int64_t low;
    int64_t high;
    int32_t shift;
    int32_t is_narrow; /* 32 bits are enough after a shift of less than 32 */
};

/* For a shift from 0 to 62. */
static inline struct partita_requantized partita_requantized(int32_t shift, int64_t low, int64_t high)
{
    struct partita_requantized to = {.half = ((int64_t)1 << shift) / 2, .low = low, .high = high, .shift = shift};
    to.is_narrow = shift < 32 && low == (int32_t)low && high == (int32_t)high;
    return to;
}

/*
 * clamp((x multiplier + addend + 2^shift / 2) >> shift, low, high): nothing overflows, since the product of two i32 and
 * two smaller terms fit 64 bits. Cores of 32 bits shift halves of the sum, and clamp 32 bits after saturating to them.
 */
static inline int64_t partita_requantize(struct partita_requantized to, int32_t x, int32_t multiplier, int32_t addend)
{
    const int64_t sum = (int64_t)x * multiplier + (addend + to.half);
    if (!to.is_narrow) {
        return partita_clamp(sum >> to.shift, to.low, to.high);
    }
    const int32_t high = (int32_t)(sum >> 32);
    const int32_t shifted = (int32_t)((uint32_t)sum >> to.shift | (uint32_t)high << 1 << (31 - to.shift));
    const int32_t fits = high >> to.shift == shifted >> 31;
    const int32_t near = fits ? shifted : (high >> 31) ^ INT32_MAX;
    return partita_min(partita_max(near, (int32_t)to.low), (int32_t)to.high);
}

#endif
