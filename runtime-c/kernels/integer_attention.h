/*
 * Attention of bytes, as defined by ir's IntegerAttention; exact. The kernels follow each other for a tile of heads and
 * queries. If its keys and values come in tiles, too, the first kernel computes the scores of all tiles of keys, the second
 * one weighs these, and the third one adds up tiles of values:
 *
 * partita_attention_scores_i8: q k' of each query and key, plus the mask in their unit; PARTITA_HIDDEN_SCORE for hidden
 * keys. Head h reads key-value head h / group. Query i stands at `position` + i; causal: it sees keys up to its
 * position; window > 0: only those fewer than `window` positions before it. `allowed` (1: visible) or `added`, or
 * neither, is a strided mask [heads, seq, keys]. Lines of scores are `scores_row` apart, or adjacent if that is 0. Cores
 * divide blocks of 4 queries by 4 keys, or of 1 query by 4 keys if there are fewer queries than 4.
 *
 * partita_attention_weights_u8: 255 / 2^((largest - score) unit / 4096) for each score, rounded; 0 for hidden keys.
 * Lines of weights are `row` bytes, a multiple of 4 with zeros after the last key. Cores take whole queries, or the
 * keys of each query by 4 if there are fewer queries than cores.
 *
 * partita_attention_values_i8: the sum of weighted values, times value_scale / the sum of the weights. Zeros for a query
 * that sees no key. Values are those of `keys` keys from `first_key` on, a multiple of 4: if it isn't 0, sums of those
 * before are in `out` as i32, and if there are more_keys, sums stay there. Cores divide blocks of 4 queries by 4 features, or
 * of 1 query by 4 features if there are fewer queries than 4.
 *
 * For many queries, partita_attention_turn_i8 transposes the values first, so that a feature has the values of all keys
 * beside each other, as sums of products need them, and partita_attention_turned_values_i8 takes the place of
 * partita_attention_values_i8. Lines of turned values are `row` bytes too, with zeros after the last key, and there are `lines`
 * of them for a head: dv rounded up to a multiple of 4, with zeros after the last feature. Cores take four keys.
 *
 * Vectors are contiguous; heads and rows are strided. All operands are in L1 and don't overlap.
 */
#ifndef PARTITA_INTEGER_ATTENTION_H
#define PARTITA_INTEGER_ATTENTION_H

#include "kernel.h"

#define PARTITA_HIDDEN_SCORE INT32_MIN

struct partita_attention_scores {
    const int8_t *q;        /* [heads, seq, d] */
    const int8_t *k;        /* [heads / group, keys, d] */
    const uint8_t *allowed; /* [heads, seq, keys] or null */
    const float *added;     /* [heads, seq, keys] or null */
    int32_t *scores;        /* [heads, seq, keys], lines of scores_row */
    int32_t heads;
    int32_t group;
    int32_t seq;
    int32_t keys;
    int32_t d; /* at most 1024 */
    int32_t q_head;
    int32_t q_row;
    int32_t k_head;
    int32_t k_row;
    int32_t mask_head;
    int32_t mask_row;
    int32_t mask_key;
    int32_t causal;
    int32_t window;
    int32_t position;
    int32_t scores_row;
    float inverse_scale; /* of the mask */
};

struct partita_attention_weights {
    const int32_t *scores; /* [heads, seq, keys] */
    uint8_t *weights;      /* [heads, seq, row] */
    int32_t heads;
    int32_t seq;
    int32_t keys;
    int32_t row;
    float unit;
};

struct partita_attention_values {
    const uint8_t *weights; /* [heads, seq, row] */
    const int8_t *v;        /* [heads / group, keys, dv] */
    float *out;             /* [heads, seq, dv] */
    int32_t heads;
    int32_t group;
    int32_t seq;
    int32_t keys; /* at most 65,793, those before included */
    int32_t dv;
    int32_t row;
    int32_t v_head;
    int32_t v_row;
    int32_t out_head;
    int32_t out_row;
    int32_t first_key;
    int32_t more_keys;
    float value_scale;
};

struct partita_attention_turn {
    const int8_t *v; /* [heads, keys, dv] */
    int8_t *turned;  /* [heads, lines, row] */
    int32_t heads;
    int32_t keys;
    int32_t dv;
    int32_t lines;
    int32_t row;
    int32_t v_head;
    int32_t v_row;
};

struct partita_attention_turned_values {
    const uint8_t *weights; /* [heads, seq, row], and three lines more of anything, which are read */
    const int8_t *turned;   /* [heads / group, lines, row] */
    float *out;             /* [heads, seq, dv] */
    int32_t heads;
    int32_t group;
    int32_t seq;
    int32_t keys; /* at most 65,793 */
    int32_t dv;
    int32_t lines;
    int32_t row;
    int32_t out_head;
    int32_t out_row;
    float value_scale;
};

partita_kernel partita_attention_scores_i8, partita_attention_weights_u8, partita_attention_values_i8,
    partita_attention_turn_i8, partita_attention_turned_values_i8;

#endif
