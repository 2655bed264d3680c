/*
 * Rotates pairs of features of x [heads, seq, d] by position, with tables c, s [seq, half], half <= d / 2: pairs are
 * (i, i + half), or (2 i, 2 i + 1) when interleaved; (a, b) -> (a c - b s, b c + a s). Features from 2 half on pass
 * through. Vectors are contiguous; heads and positions are strided, in the same way in x and out; out may be x.
 * Cores take whole vectors; with fewer vectors than cores, each takes some pairs of every vector.
 *
 * Within 2 u (|a c| + |b s|): two products and their difference. The reference rounds once.
 */
#ifndef PARTITA_ROTARY_H
#define PARTITA_ROTARY_H

#include "kernel.h"

struct partita_rotary {
    const float *x; /* [heads, seq, d] */
    const float *cosines; /* [seq, half] */
    const float *sines;   /* [seq, half] */
    float *out;           /* [heads, seq, d] */
    int32_t heads;
    int32_t seq;
    int32_t d;
    int32_t half;
    int32_t head_stride;
    int32_t seq_stride;
};

partita_kernel partita_rotary_half_f32, partita_rotary_interleaved_f32;

#endif
