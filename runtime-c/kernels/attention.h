/*
 * Attention of queries to a tile of keys and values, softmax(scale q k' + mask) v for each head: one kernel for
 * prompts and decoding, whole or in tiles, since sums and maxima are carried from tile to tile.
 *
 * partita_attention_f32 divides the keys of a tile evenly into `parts` parts, each with its own state, so that cores
 * can share the keys of one query. For each part, head and query it keeps the largest score m so far, the sum of e^(s
 * - m) and the sum of e^(s - m) v; when a later key raises m to m', both sums are scaled by e^(m - m'). The first
 * tile initialises the state. partita_attention_finish_f32 joins the parts and divides. A query that sees no key gets
 * zeros.
 *
 * Head h reads key-value head h / group. Query i stands at `position` + i, counted from the tile's first key:
 * negative for a tile after all queries. Causal: it sees keys up to its position; window > 0: only those fewer than
 * `window` positions before it. A soft cap > 0 replaces a score s by cap tanh(s / cap), before the mask. `allowed`
 * (1: visible) or `added` (added to the score), or neither, is a strided mask [heads, seq, keys].
 *
 * Vectors are contiguous; heads and rows are strided. All operands are in L1 and don't overlap. Cores divide (part,
 * head, query); to finish, (head, query); with fewer of these than cores, the features of each by 8, if it has 32.
 *
 * Scores before scaling are exact. Within (40 S + 4 keys + 8 parts + 24) u max |v|, S being the largest |score| of
 * the query: a score's relative error of 14 u enters the exponent for itself and for m, each exponential is off by 4
 * u and its argument's rounding, sums by their lengths, and each rise of m, at most one in 32 keys, by an exponential.
 */
#ifndef PARTITA_ATTENTION_H
#define PARTITA_ATTENTION_H

#include "kernel.h"

struct partita_attention {
    const float *q;         /* [heads, seq, d] */
    const float *k;         /* [heads / group, keys, d] */
    const float *v;         /* [heads / group, keys, dv] */
    const uint8_t *allowed; /* [heads, seq, keys] or null */
    const float *added;     /* [heads, seq, keys] or null */
    float *largest;         /* [parts, heads, seq] */
    float *weights;         /* [parts, heads, seq]: sums of e^(s - m) */
    float *sums;            /* [parts, heads, seq, dv] */
    int32_t parts;
    int32_t heads;
    int32_t group;
    int32_t seq;
    int32_t keys;
    int32_t d;
    int32_t dv;
    int32_t q_head;
    int32_t q_row;
    int32_t k_head;
    int32_t k_row;
    int32_t v_head;
    int32_t v_row;
    int32_t mask_head;
    int32_t mask_row;
    int32_t mask_key;
    int32_t first; /* 1 for the first tile of keys */
    int32_t causal;
    int32_t window;
    int32_t position;
    float scale;
    float soft_cap;
};

struct partita_attention_finish {
    const float *largest; /* [parts, heads, seq] */
    const float *weights; /* [parts, heads, seq] */
    const float *sums;    /* [parts, heads, seq, dv] */
    float *out;           /* [heads, seq, dv] */
    int32_t parts;
    int32_t heads;
    int32_t seq;
    int32_t dv;
    int32_t out_head;
    int32_t out_row;
};

partita_kernel partita_attention_f32, partita_attention_finish_f32;

#endif
