#include "integer_attention.h"

#include "float_functions.h"
#include "gemm_bytes.h"

/* The score of a hidden key. */
#define HIDDEN INT32_MIN

/* What an additive mask adds to a score at most. */
#define LARGEST_MASK 0x1p28f

PARTITA_MULTIPLY_BLOCKS(score_block, partita_sdotsp_b, "pv.sdotsp.b")
PARTITA_MULTIPLY_ROW(score_row, partita_sdotsp_b, "pv.sdotsp.b")
PARTITA_MULTIPLY_TURNED(weigh_block, 4, partita_sdotusp_b)
PARTITA_MULTIPLY_TURNED(weigh_row, 1, partita_sdotusp_b)

/* A core's blocks of queries by columns: consecutive ones, along the columns first. */
struct blocks {
    int32_t head;
    int32_t query;
    int32_t column;
    int32_t count;
};

static struct blocks share_of(int32_t heads, int32_t seq, int32_t columns, int32_t core, int32_t cores)
{
    const int32_t across = (columns + PARTITA_BLOCK - 1) / PARTITA_BLOCK;
    const int32_t down = (seq + PARTITA_BLOCK - 1) / PARTITA_BLOCK;
    const struct partita_range share = partita_share(heads * down * across, 1, core, cores);
    const int32_t line = across == 0 ? 0 : share.from / across;
    const int32_t head = down <= 1 ? line : line / down;
    const struct blocks blocks = {head, (line - head * down) * PARTITA_BLOCK, (share.from - line * across) * PARTITA_BLOCK,
                                  share.to - share.from};
    return blocks;
}

static inline void next(struct blocks *blocks, int32_t seq, int32_t columns)
{
    blocks->column += PARTITA_BLOCK;
    if (blocks->column >= columns) {
        blocks->column = 0;
        blocks->query += PARTITA_BLOCK;
        if (blocks->query >= seq) {
            blocks->query = 0;
            blocks->head++;
        }
    }
    blocks->count--;
}

/* What a mask adds to a score. */
static int32_t addend(float mask, float inverse_scale)
{
    const float scaled = mask * inverse_scale;
    const float near = scaled > LARGEST_MASK ? LARGEST_MASK : scaled < -LARGEST_MASK ? -LARGEST_MASK : scaled;
    return near == near ? (int32_t)partita_round(near) : 0;
}

/* Hides and masks the scores of a block. */
static PARTITA_COMPACT void mask_block(const struct partita_attention_scores *attention, struct blocks at, int32_t rows,
                                       int32_t columns)
{
    for (int32_t i = 0; i < rows; i++) {
        const int32_t query = at.query + i;
        const int32_t position = attention->position + query;
        int32_t *scores = attention->scores + ((at.head * attention->seq + query) * attention->keys + at.column);
        int32_t mask = at.head * attention->mask_head + query * attention->mask_row + at.column * attention->mask_key;
        for (int32_t j = 0; j < columns; j++) {
            const int32_t key = at.column + j;
            if ((attention->causal && key > position) ||
                (attention->window > 0 && position - key >= attention->window) ||
                (attention->allowed != 0 && !attention->allowed[mask]) ||
                (attention->added != 0 && attention->added[mask] == -PARTITA_INFINITY)) {
                scores[j] = HIDDEN;
            } else if (attention->added != 0) {
                scores[j] += addend(attention->added[mask], attention->inverse_scale);
            }
            mask += attention->mask_key;
        }
    }
}

/* Products of a query with `columns` keys over features from `from` on, added to `scores`. */
static PARTITA_COMPACT void score_rest(const int8_t *q, const int8_t *k, int32_t k_row, int32_t from, int32_t d,
                                       int32_t columns, int32_t *scores)
{
    for (int32_t j = 0; j < columns; j++) {
        int32_t sum = from > 0 ? scores[j] : 0;
        for (int32_t i = from; i < d; i++) {
            sum += q[i] * k[i];
        }
        scores[j] = sum;
        k += k_row;
    }
}

/* Whether a query of a block may not see all of its keys, or a mask adds to scores. */
static inline int32_t is_masked(const struct partita_attention_scores *attention, struct blocks at, int32_t rows,
                                int32_t columns)
{
    const int32_t position = attention->position + at.query;
    return attention->allowed != 0 || attention->added != 0 ||
           (attention->causal && at.column + columns - 1 > position) ||
           (attention->window > 0 && position + rows - 1 - at.column >= attention->window);
}

PARTITA_COMPACT void partita_attention_scores_i8(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_attention_scores *attention = arguments;
    const int32_t keys = attention->keys;
    const int32_t words = attention->d >> 2;
    const int32_t q_row = attention->q_row;
    const int32_t k_row = attention->k_row;
    const int32_t first = partita_first_word(words, core);
    struct blocks at = share_of(attention->heads, attention->seq, keys, core, cores);
    for (; at.count > 0; next(&at, attention->seq, keys)) {
        const int32_t rows = partita_at_most_a_block(attention->seq - at.query);
        const int32_t columns = partita_at_most_a_block(keys - at.column);
        const int32_t kv_head = attention->group == 1 ? at.head : at.head / attention->group;
        const int8_t *q = attention->q + at.head * attention->q_head + at.query * q_row;
        const int8_t *k = attention->k + kv_head * attention->k_head + at.column * k_row;
        int32_t *scores = attention->scores + ((at.head * attention->seq + at.query) * keys + at.column);
        const int32_t whole = columns == PARTITA_BLOCK ? words : 0;
        const int32_t is_block = rows == PARTITA_BLOCK && whole > 0 && q_row == k_row;
        if (is_block) {
            const int32_t zeros[PARTITA_BLOCK] = {0};
            score_block((const uint8_t *)q, (const uint8_t *)k, k_row, words, zeros, scores, keys, 1);
        }
        for (int32_t i = 0; i < rows; i++) {
            if (whole > 0 && !is_block) {
                uint32_t sums[PARTITA_BLOCK];
                score_row((const uint8_t *)(q + i * q_row), (const uint8_t *)k, k_row, first, words, sums);
                PARTITA_UNROLLED (int32_t j = 0; j < PARTITA_BLOCK; j++) {
                    scores[i * keys + j] = (int32_t)sums[j];
                }
            }
            if (4 * whole < attention->d) {
                score_rest(q + i * q_row, k, k_row, 4 * whole, attention->d, columns, scores + i * keys);
            }
        }
        if (is_masked(attention, at, rows, columns)) {
            mask_block(attention, at, rows, columns);
        }
    }
}

/*
 * The weight of a score `below` the largest one. The power of the fraction, of 12 bits, is a polynomial with 10 bits
 * after the point.
 */
static inline uint8_t weight_of(int32_t below, float unit)
{
    const float exponent = (float)below * unit;
    const int32_t bits = exponent < 65535.0f ? (int32_t)exponent : 65535;
    const int32_t whole = bits >> 12;
    const int32_t x = bits & 4095;
    const int32_t power = 261120 - (x * (180612 - (x * (60395 - (x * 10343 >> 12)) >> 12)) >> 12);
    return (uint8_t)((power + (512 << whole)) >> (10 + whole));
}

/* The largest of some numbers and `largest`. */
static inline int32_t largest_of(const int32_t *scores, int32_t from, int32_t to, int32_t largest)
{
    for (int32_t i = from; i < to; i++) {
        largest = partita_max(largest, scores[i]);
    }
    return largest;
}

PARTITA_COMPACT void partita_attention_weights_u8(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_attention_weights *weights = arguments;
    const int32_t lines = weights->heads * weights->seq;
    const int32_t keys = weights->keys;
    struct partita_range share = {0, lines};
    struct partita_range part = {0, weights->row};
    if (lines < cores) {
        part = partita_share(weights->row, 4, core, cores);
    } else {
        share = partita_share(lines, 1, core, cores);
    }
    const int32_t end = part.to < keys ? part.to : keys;
    for (int32_t line = share.from; line < share.to; line++) {
        const int32_t *scores = weights->scores + line * keys;
        uint8_t *out = weights->weights + line * weights->row;
        /* Cores that share a query begin at different scores, in different banks. */
        const int32_t first = part.from < keys ? part.from : keys;
        const int32_t largest = largest_of(scores, 0, first, largest_of(scores, first, keys, HIDDEN));
        int32_t i = part.from;
        for (; i < end; i++) {
            out[i] = scores[i] == HIDDEN ? 0 : weight_of(largest - scores[i], weights->unit);
        }
        for (; i < part.to; i++) {
            out[i] = 0;
        }
    }
}

/* Sums of a query's weighted values over keys from `from` on, for some features. */
static PARTITA_COMPACT void weigh_rest(const uint8_t *weights, const int8_t *v, int32_t v_row, int32_t from,
                                       int32_t keys, int32_t columns, uint32_t sums[PARTITA_BLOCK])
{
    for (int32_t j = 0; j < columns; j++) {
        int32_t sum = from > 0 ? (int32_t)sums[j] : 0;
        const int8_t *value = v + from * v_row + j;
        for (int32_t key = from; key < keys; key++) {
            sum += weights[key] * *value;
            value += v_row;
        }
        sums[j] = (uint32_t)sum;
    }
}

/* The scale of a query's weighted values. Cores begin at different words, in different banks. */
static PARTITA_COMPACT float scale_of(const uint8_t *weights, int32_t row, float value_scale, int32_t core)
{
    uint32_t total = 0;
    const uint8_t *next = weights + 4 * (4 * core < row ? core : 0);
    for (int32_t word = 0; word < row >> 2; word++) {
        total = partita_sdotup_b(total, partita_next_word(&next, 4), 0x01010101u);
        next = next == weights + row ? weights : next;
    }
    return total == 0 ? 0.0f : value_scale / (float)(int32_t)total;
}

PARTITA_COMPACT void partita_attention_values_i8(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_attention_values *attention = arguments;
    const int32_t row = attention->row;
    const int32_t v_row = attention->v_row;
    const int32_t words = attention->keys >> 2;
    struct blocks at = share_of(attention->heads, attention->seq, attention->dv, core, cores);
    float scales[PARTITA_BLOCK];
    int32_t scaled = -1; /* the line of the first scale */
    for (; at.count > 0; next(&at, attention->seq, attention->dv)) {
        const int32_t rows = partita_at_most_a_block(attention->seq - at.query);
        const int32_t columns = partita_at_most_a_block(attention->dv - at.column);
        const int32_t kv_head = attention->group == 1 ? at.head : at.head / attention->group;
        const int32_t line = at.head * attention->seq + at.query;
        const uint8_t *weights = attention->weights + line * row;
        const int8_t *v = attention->v + kv_head * attention->v_head + at.column;
        float *out = attention->out + at.head * attention->out_head + at.query * attention->out_row + at.column;
        if (line != scaled) {
            for (int32_t i = 0; i < rows; i++) {
                scales[i] = scale_of(weights + i * row, row, attention->value_scale, core);
            }
            scaled = line;
        }
        const int32_t whole = columns == PARTITA_BLOCK ? words : 0;
        uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK];
        const int32_t is_block = rows == PARTITA_BLOCK && whole > 0;
        if (is_block) {
            weigh_block(weights, row, (const uint8_t *)v, v_row, whole, sums);
        }
        for (int32_t i = 0; i < rows; i++) {
            uint32_t single[PARTITA_BLOCK][PARTITA_BLOCK];
            uint32_t *own = sums[i];
            if (!is_block && whole > 0) {
                weigh_row(weights + i * row, row, (const uint8_t *)v, v_row, whole, single);
                own = single[0];
            }
            if (4 * whole < attention->keys) {
                weigh_rest(weights + i * row, v, v_row, 4 * whole, attention->keys, columns, own);
            }
            for (int32_t j = 0; j < columns; j++) {
                out[i * attention->out_row + j] = attention->keys > 0 ? (float)(int32_t)own[j] * scales[i] : 0;
            }
        }
    }
}
