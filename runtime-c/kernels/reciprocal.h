/* Exact division by the same integer many times. */
#ifndef PARTITA_RECIPROCAL_H
#define PARTITA_RECIPROCAL_H

#include "simd.h"

/*
 * The factor with which floor(x / y) is floor(x factor / 2^(31 + bits)), for x < 2^30 and 2^bits <= y < 2^(bits + 1): the
 * integer above 2^(31 + bits) / y. It is too large by at most 1, so x factor / 2^(31 + bits) by less than 1 / y. The digits
 * of the quotient are found as many at a time as fit 32 bits.
 */
static inline uint32_t partita_reciprocal(uint32_t y, int32_t bits)
{
    uint32_t rest = (uint32_t)1 << bits;
    uint32_t quotient = rest == y;
    rest -= quotient * y;
    for (int32_t left = 31; left > 0;) {
        const int32_t digits = partita_min(left, 31 - bits);
        const uint32_t next = (rest << digits) / y;
        quotient = (quotient << digits) + next;
        rest = (rest << digits) - next * y;
        left -= digits;
    }
    return quotient + 1;
}

#endif
