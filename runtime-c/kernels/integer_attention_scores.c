#include "integer_attention.h"

#include "float_functions.h"
#include "gemm_bytes.h"
#include "integer_attention_parts.h"

/* The most that an additive mask changes a score. */
#define LARGEST_MASK 0x1p28f

PARTITA_MULTIPLY_BLOCKS(score_blocks, partita_sdotsp_b, "pv.sdotsp.b")

/* A rectangle of the scores of a head. */
struct place {
    int32_t head;
    int32_t query;
    int32_t key;
    int32_t queries;
    int32_t keys;
};

/* From the scores of a query to those of the next one. */
static inline int32_t row_of_scores(const struct partita_attention_scores *attention)
{
    return attention->scores_row == 0 ? attention->keys : attention->scores_row;
}

/* Products of a query with some keys over features from `from` on, added to the scores before if there are any. */
static PARTITA_COMPACT void score_rest(const int8_t *q, const int8_t *k, int32_t k_row, int32_t from, int32_t d,
                                       int32_t keys, int32_t *scores)
{
    for (int32_t j = 0; j < keys; j++) {
        int32_t sum = from > 0 ? scores[j] : 0;
        for (int32_t i = from; i < d; i++) {
            sum += q[i] * k[i];
        }
        scores[j] = sum;
        k += k_row;
    }
}

/* Products of a query with whole blocks of keys over `words` words of features; at least one of each. */
PARTITA_INLINE void score_keys(const int8_t *q, const int8_t *k, int32_t k_row, int32_t words, int32_t *scores,
                               int32_t blocks)
{
    const uint8_t *key = (const uint8_t *)k;
    uint8_t *out = (uint8_t *)scores;
#ifdef PARTITA_XPULP
    const int8_t *query;
    uint32_t s0, s1, s2, s3, x, y0, y1, y2, y3;
    __asm__ volatile(".p2align 2\n"
                     ".option push\n"
                     ".option norvc\n"
                     "lp.setup 1, %[blocks], 20\n"
                     "mv %[query], %[q]\n"
                     "li %[s0], 0\n"
                     "li %[s1], 0\n"
                     "li %[s2], 0\n"
                     "li %[s3], 0\n"
                     "lp.setup 0, %[words], 9\n"
                     "p.lw %[x], %[query], %[word]\n"
                     "p.lw %[y0], %[key], %[stride]\n"
                     "p.lw %[y1], %[key], %[stride]\n"
                     "p.lw %[y2], %[key], %[stride]\n"
                     "p.lw %[y3], %[key], %[on]\n"
                     "pv.sdotsp.b %[s0], %[x], %[y0]\n"
                     "pv.sdotsp.b %[s1], %[x], %[y1]\n"
                     "pv.sdotsp.b %[s2], %[x], %[y2]\n"
                     "pv.sdotsp.b %[s3], %[x], %[y3]\n"
                     "lp.end 0\n"
                     "add %[key], %[key], %[next]\n"
                     "p.sw %[s0], %[out], %[word]\n"
                     "p.sw %[s1], %[out], %[word]\n"
                     "p.sw %[s2], %[out], %[word]\n"
                     "p.sw %[s3], %[out], %[word]\n"
                     "lp.end 1\n"
                     ".option pop\n"
                     : [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3), [x] "=&r"(x), [y0] "=&r"(y0),
                       [y1] "=&r"(y1), [y2] "=&r"(y2), [y3] "=&r"(y3), [query] "=&r"(query), [key] "+&r"(key),
                       [out] "+&r"(out)
                     : [q] "r"(q), [stride] "r"(k_row), [on] "r"(4 - 3 * k_row), [next] "r"(4 * (k_row - words)),
                       [word] "r"(4), [words] "r"(words), [blocks] "r"(blocks)
                     : "memory");
#else
    for (int32_t i = 0; i < PARTITA_BLOCK * blocks; i++) {
        const uint8_t *x = (const uint8_t *)q;
        const uint8_t *y = key;
        uint32_t sum = 0;
        for (int32_t word = 0; word < words; word++) {
            sum = partita_sdotsp_b(sum, partita_next_word(&x, 4), partita_next_word(&y, 4));
        }
        partita_store_word(&out, 4, sum);
        key += k_row;
    }
#endif
}

/* The scores of any queries and keys. */
static PARTITA_COMPACT void score_any(const struct partita_attention_scores *attention, const int8_t *q, const int8_t *k,
                                      struct place at, int32_t *scores)
{
    const int32_t k_row = attention->k_row;
    const int32_t words = attention->d >> 2;
    const int32_t blocks = words > 0 ? at.keys >> 2 : 0;
    const int32_t whole = PARTITA_BLOCK * blocks;
    for (; at.queries > 0; at.queries--) {
        if (blocks > 0) {
            score_keys(q, k, k_row, words, scores, blocks);
            if (4 * words < attention->d) {
                score_rest(q, k, k_row, 4 * words, attention->d, whole, scores);
            }
        }
        if (whole < at.keys) {
            score_rest(q, k + whole * k_row, k_row, 0, attention->d, at.keys - whole, scores + whole);
        }
        q += attention->q_row;
        scores += row_of_scores(attention);
    }
}

/* What a mask adds to a score, in its unit; 0 for NaN. */
static int32_t addend(float mask, float inverse_scale)
{
    const float scaled = mask * inverse_scale;
    const float near = scaled > LARGEST_MASK ? LARGEST_MASK : scaled < -LARGEST_MASK ? -LARGEST_MASK : scaled;
    return near == near ? (int32_t)partita_round(near) : 0;
}

/* Hides the scores of the keys after each query. */
static PARTITA_COMPACT void hide_later(const struct partita_attention_scores *attention, struct place at)
{
    const int32_t row = row_of_scores(attention);
    int32_t *scores = attention->scores + ((at.head * attention->seq + at.query) * row + at.key);
    int32_t first = attention->position + at.query + 1 - at.key;
    for (; at.queries > 0; at.queries--) {
        for (int32_t j = partita_max(first, 0); j < at.keys; j++) {
            scores[j] = PARTITA_HIDDEN_SCORE;
        }
        first++;
        scores += row;
    }
}

/* Hides scores, and adds the mask to the others. */
static PARTITA_COMPACT void mask_scores(const struct partita_attention_scores *attention, struct place at)
{
    if (attention->allowed == 0 && attention->added == 0 && attention->window <= 0) {
        hide_later(attention, at);
        return;
    }
    for (int32_t i = 0; i < at.queries; i++) {
        const int32_t query = at.query + i;
        const int32_t position = attention->position + query;
        int32_t *scores = attention->scores + ((at.head * attention->seq + query) * row_of_scores(attention) + at.key);
        int32_t mask = at.head * attention->mask_head + query * attention->mask_row + at.key * attention->mask_key;
        for (int32_t j = 0; j < at.keys; j++) {
            const int32_t key = at.key + j;
            if ((attention->causal && key > position) ||
                (attention->window > 0 && position - key >= attention->window) ||
                (attention->allowed != 0 && !attention->allowed[mask]) ||
                (attention->added != 0 && attention->added[mask] == -PARTITA_INFINITY)) {
                scores[j] = PARTITA_HIDDEN_SCORE;
            } else if (attention->added != 0) {
                scores[j] += addend(attention->added[mask], attention->inverse_scale);
            }
            mask += attention->mask_key;
        }
    }
}

/* Whether mask_scores has anything to do: a key may be hidden, or a mask be added. */
static inline int32_t is_masked(const struct partita_attention_scores *attention, struct place at)
{
    const int32_t position = attention->position + at.query;
    return attention->allowed != 0 || attention->added != 0 ||
           (attention->causal && at.key + at.keys - 1 > position) ||
           (attention->window > 0 && position + at.queries - 1 - at.key >= attention->window);
}

/* Of fewer than four queries: cores divide the lines of scores, in blocks of four keys. */
static PARTITA_COMPACT void score_few(const struct partita_attention_scores *attention, int32_t core, int32_t cores)
{
    const int32_t seq = attention->seq;
    const int32_t row = row_of_scores(attention);
    struct partita_line_blocks own = partita_line_blocks(attention->heads * seq, attention->keys, core, cores);
    while (own.count > 0) {
        const int32_t line = own.line;
        const int32_t head = seq == 1 ? line : line / seq;
        const struct partita_range keys = partita_next_columns(&own, attention->keys);
        const struct place at = {head, line - head * seq, keys.from, 1, keys.to - keys.from};
        const int8_t *q = attention->q + head * attention->q_head + at.query * attention->q_row;
        const int8_t *k =
            attention->k + partita_kv_head(head, attention->group) * attention->k_head + at.key * attention->k_row;
        score_any(attention, q, k, at, attention->scores + (line * row + at.key));
        if (is_masked(attention, at)) {
            mask_scores(attention, at);
        }
    }
}

/* Of more queries: cores divide blocks of four queries by four keys. */
static PARTITA_COMPACT void score_many(const struct partita_attention_scores *attention, int32_t core, int32_t cores)
{
    const int32_t zeros[PARTITA_BLOCK] = {0};
    const int32_t seq = attention->seq;
    const int32_t keys = attention->keys;
    const int32_t row = row_of_scores(attention);
    const int32_t fast = attention->q_row == attention->k_row && attention->d > 0 && (attention->d & 3) == 0;
    /* Their columns are queries, as consecutive blocks of score_blocks have the same keys. */
    struct partita_attention_blocks own = partita_attention_blocks(attention->heads, keys, seq, core, cores);
    while (own.count > 0) {
        const int32_t left = (seq - own.column) / PARTITA_BLOCK;
        const int32_t whole = left < own.count ? left : own.count;
        const int32_t blocks = whole > 0 ? whole : 1;
        struct place at = {own.head, own.column, own.line, whole > 0 ? whole * PARTITA_BLOCK : seq - own.column,
                           partita_at_most_a_block(keys - own.line)};
        const int8_t *q = attention->q + at.head * attention->q_head + at.query * attention->q_row;
        const int8_t *k =
            attention->k + partita_kv_head(at.head, attention->group) * attention->k_head + at.key * attention->k_row;
        int32_t *scores = attention->scores + ((at.head * seq + at.query) * row + at.key);
        if (fast && whole > 0 && at.keys == PARTITA_BLOCK) {
            score_blocks((const uint8_t *)q, (const uint8_t *)k, attention->k_row, attention->d >> 2, zeros, scores, row,
                         whole);
        } else {
            score_any(attention, q, k, at, scores);
        }
        for (int32_t queries = at.queries; queries > 0; queries -= PARTITA_BLOCK) {
            at.queries = partita_at_most_a_block(queries);
            if (is_masked(attention, at)) {
                mask_scores(attention, at);
            }
            at.query += PARTITA_BLOCK;
        }
        partita_next_blocks(&own, keys, seq, blocks);
    }
}

/* Each has functions of its own, since a single query takes about as long as fetching the code for it. */
PARTITA_COMPACT void partita_attention_scores_i8(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_attention_scores *attention = arguments;
    if (attention->seq < PARTITA_BLOCK) {
        score_few(attention, core, cores);
    } else {
        score_many(attention, core, cores);
    }
}
