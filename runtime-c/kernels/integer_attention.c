#include "integer_attention.h"

#include "float_functions.h"
#include "gemm_bytes.h"
#include "integer_attention_weights.h"

/* The score of a hidden key. */
#define HIDDEN INT32_MIN

/* What an additive mask adds to a score at most. */
#define LARGEST_MASK 0x1p28f

PARTITA_MULTIPLY_BLOCKS(score_blocks, partita_sdotsp_b, "pv.sdotsp.b")
PARTITA_MULTIPLY_TURNED_BLOCK(weigh_block, partita_sdotusp_b, "pv.sdotusp.b")
PARTITA_MULTIPLY_TURNED_ROW(weigh_row, partita_sdotusp_b, "pv.sdotusp.b")
PARTITA_MULTIPLY_BLOCKS(weigh_features, partita_sdotspu_b, "pv.sdotspu.b")

/* A core's blocks of lines by columns: consecutive ones, along the columns first. */
struct blocks {
    int32_t head;
    int32_t line;
    int32_t column;
    int32_t count;
};

/* The key-value head of a head. A division takes as long as 30 other instructions. */
static inline int32_t shared_head(int32_t head, int32_t group)
{
    return head < group ? 0 : head / group;
}

static struct blocks share_of(int32_t heads, int32_t lines, int32_t columns, int32_t core, int32_t cores)
{
    const int32_t across = (columns + PARTITA_BLOCK - 1) / PARTITA_BLOCK;
    const int32_t down = (lines + PARTITA_BLOCK - 1) / PARTITA_BLOCK;
    const struct partita_range share = partita_share(heads * down * across, 1, core, cores);
    const int32_t row = across <= 1 ? share.from : share.from / across;
    const int32_t head = down <= 1 ? row : row / down;
    const struct blocks blocks = {head, (row - head * down) * PARTITA_BLOCK, (share.from - row * across) * PARTITA_BLOCK,
                                  share.to - share.from};
    return blocks;
}

/* Advances by `count` blocks of a line. */
static inline void advance(struct blocks *blocks, int32_t lines, int32_t columns, int32_t count)
{
    blocks->count -= count;
    blocks->column += count * PARTITA_BLOCK;
    if (blocks->column >= columns) {
        blocks->column = 0;
        blocks->line += PARTITA_BLOCK;
        if (blocks->line >= lines) {
            blocks->line = 0;
            blocks->head++;
        }
    }
}

/* What a mask adds to a score. */
static int32_t addend(float mask, float inverse_scale)
{
    const float scaled = mask * inverse_scale;
    const float near = scaled > LARGEST_MASK ? LARGEST_MASK : scaled < -LARGEST_MASK ? -LARGEST_MASK : scaled;
    return near == near ? (int32_t)partita_round(near) : 0;
}

/* Where scores are: the first query and key, and how many of them. */
struct place {
    int32_t head;
    int32_t query;
    int32_t key;
    int32_t queries;
    int32_t keys;
};

/* How far lines of scores are apart. */
static inline int32_t row_of_scores(const struct partita_attention_scores *attention)
{
    return attention->scores_row == 0 ? attention->keys : attention->scores_row;
}

/* Hides the scores of keys after each query. */
static PARTITA_COMPACT void hide_later(const struct partita_attention_scores *attention, struct place at)
{
    const int32_t row = row_of_scores(attention);
    int32_t *scores = attention->scores + ((at.head * attention->seq + at.query) * row + at.key);
    int32_t first = attention->position + at.query + 1 - at.key;
    for (; at.queries > 0; at.queries--) {
        for (int32_t j = partita_max(first, 0); j < at.keys; j++) {
            scores[j] = HIDDEN;
        }
        first++;
        scores += row;
    }
}

/* Hides and masks scores. */
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

/* Whether a query may not see all of the keys, or a mask adds to scores. */
static inline int32_t is_masked(const struct partita_attention_scores *attention, struct place at)
{
    const int32_t position = attention->position + at.query;
    return attention->allowed != 0 || attention->added != 0 ||
           (attention->causal && at.key + at.keys - 1 > position) ||
           (attention->window > 0 && position + at.queries - 1 - at.key >= attention->window);
}

/* Products of a query with blocks of keys over `words` words, at least one. */
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

/* What a core has of lines of blocks: some blocks of one line after the other. */
struct line_parts {
    int32_t line;
    int32_t block; /* the first one */
    int32_t left;  /* blocks, of all lines */
    int32_t blocks; /* of a line */
};

static inline struct line_parts parts_of(int32_t lines, int32_t columns, int32_t core, int32_t cores)
{
    const int32_t blocks = (columns + PARTITA_BLOCK - 1) / PARTITA_BLOCK;
    const struct partita_range share = partita_share(lines * blocks, 1, core, cores);
    const int32_t line = lines == 1 || share.from == 0 ? 0 : share.from / blocks;
    return (struct line_parts){line, share.from - line * blocks, share.to - share.from, blocks};
}

/* The columns of the current line, and then the next line. */
static inline struct partita_range next_part(struct line_parts *parts, int32_t columns)
{
    const int32_t count = partita_min(parts->blocks - parts->block, parts->left);
    const int32_t from = PARTITA_BLOCK * parts->block;
    parts->left -= count;
    parts->block = 0;
    parts->line++;
    return (struct partita_range){from, partita_min(from + PARTITA_BLOCK * count, columns)};
}

/* The scores of few queries: cores divide blocks of keys of all lines. */
static PARTITA_COMPACT void score_few(const struct partita_attention_scores *attention, int32_t core, int32_t cores)
{
    const int32_t seq = attention->seq;
    const int32_t row = row_of_scores(attention);
    struct line_parts parts = parts_of(attention->heads * seq, attention->keys, core, cores);
    while (parts.left > 0) {
        const int32_t line = parts.line;
        const int32_t head = seq == 1 ? line : line / seq;
        const struct partita_range part = next_part(&parts, attention->keys);
        const struct place at = {head, line - head * seq, part.from, 1, part.to - part.from};
        const int8_t *q = attention->q + head * attention->q_head + at.query * attention->q_row;
        const int8_t *k = attention->k + shared_head(head, attention->group) * attention->k_head + at.key * attention->k_row;
        score_any(attention, q, k, at, attention->scores + (line * row + at.key));
        if (is_masked(attention, at)) {
            mask_scores(attention, at);
        }
    }
}

/* The scores of many queries: cores divide blocks. */
static PARTITA_COMPACT void score_many(const struct partita_attention_scores *attention, int32_t core, int32_t cores)
{
    const int32_t zeros[PARTITA_BLOCK] = {0};
    const int32_t seq = attention->seq;
    const int32_t keys = attention->keys;
    const int32_t row = row_of_scores(attention);
    const int32_t fast = attention->q_row == attention->k_row && attention->d > 0 && (attention->d & 3) == 0;
    /* Lines are along the queries, since score_blocks has the same keys. */
    struct blocks own = share_of(attention->heads, keys, seq, core, cores);
    while (own.count > 0) {
        const int32_t left = (seq - own.column) / PARTITA_BLOCK;
        const int32_t whole = left < own.count ? left : own.count;
        const int32_t blocks = whole > 0 ? whole : 1;
        struct place at = {own.head, own.column, own.line, whole > 0 ? whole * PARTITA_BLOCK : seq - own.column,
                           partita_at_most_a_block(keys - own.line)};
        const int8_t *q = attention->q + at.head * attention->q_head + at.query * attention->q_row;
        const int8_t *k = attention->k + shared_head(at.head, attention->group) * attention->k_head + at.key * attention->k_row;
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
        advance(&own, keys, seq, blocks);
    }
}

/* Each has functions of its own: a single query takes about as long as loading the instructions for it. */
PARTITA_COMPACT void partita_attention_scores_i8(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_attention_scores *attention = arguments;
    if (attention->seq < PARTITA_BLOCK) {
        score_few(attention, core, cores);
    } else {
        score_many(attention, core, cores);
    }
}

/* With this unit or a larger one, differences from hidden keys are at least PARTITA_WEIGHTLESS, since scores are below 2^30. */
#define LEAST_UNIT 0x1p-14f

/*
 * Weights of `count` scores, a constant, up to a block: each step for all of them, as a unit of floats takes some cycles.
 * `hides`, a constant: scores of hidden keys are told apart.
 */
PARTITA_INLINE void weigh_scores(const int32_t *scores, int32_t count, int32_t largest, float unit, int32_t hides,
                                 uint8_t *out)
{
    int32_t own[PARTITA_BLOCK];
    float exponents[PARTITA_BLOCK];
    int32_t steps[PARTITA_BLOCK];
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        own[i] = scores[i];
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        exponents[i] = (float)((uint32_t)largest - (uint32_t)own[i]) * unit;
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        const int32_t near = partita_min(partita_truncated(exponents[i]), PARTITA_WEIGHTLESS);
        own[i] = hides && own[i] == HIDDEN ? PARTITA_WEIGHTLESS : near;
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        steps[i] = partita_half_at(partita_attention_steps, own[i] >> 4);
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        out[i] = (uint8_t)partita_less_by_16(steps[i], own[i] & 15);
    }
}

/* Scores from which on blocks save more than it takes to load their instructions. */
enum { MANY_SCORES = 32 };

/* Weights of a line's scores from one to another. */
PARTITA_INLINE void weigh_line(const int32_t *scores, struct partita_range part, int32_t largest, float unit,
                               int32_t hides, uint8_t *out)
{
    int32_t i = part.from;
    if (part.to - i >= MANY_SCORES) {
        for (; i + PARTITA_BLOCK <= part.to; i += PARTITA_BLOCK) {
            weigh_scores(scores + i, PARTITA_BLOCK, largest, unit, hides, out + i);
        }
    }
    for (; i < part.to; i++) {
        weigh_scores(scores + i, 1, largest, unit, hides, out + i);
    }
}

static PARTITA_STAGED void weigh_seen(const int32_t *scores, struct partita_range part, int32_t largest, float unit,
                                      uint8_t *out)
{
    weigh_line(scores, part, largest, unit, 0, out);
}

static PARTITA_COMPACT void weigh_any(const int32_t *scores, struct partita_range part, int32_t largest, float unit,
                                      uint8_t *out)
{
    weigh_line(scores, part, largest, unit, 1, out);
}

/* The largest of a line's scores. */
static __attribute__((noinline)) int32_t largest_of(const int32_t *scores, int32_t count)
{
    int32_t largest = HIDDEN;
    int32_t pairs = count >> 1;
#ifdef PARTITA_XPULP
    int32_t x, y;
    if (pairs > 0) {
        __asm__(".p2align 2\n"
                ".option push\n"
                ".option norvc\n"
                "lp.setup 0, %[pairs], 4\n"
                "p.lw %[x], %[scores], %[word]\n"
                "p.lw %[y], %[scores], %[word]\n"
                "p.max %[largest], %[largest], %[x]\n"
                "p.max %[largest], %[largest], %[y]\n"
                "lp.end 0\n"
                ".option pop\n"
                : [x] "=&r"(x), [y] "=&r"(y), [scores] "+r"(scores), [largest] "+r"(largest)
                : [word] "r"(4), [pairs] "r"(pairs)
                : "memory");
    }
#else
    for (; pairs > 0; pairs--) {
        largest = partita_max(largest, *scores++);
        largest = partita_max(largest, *scores++);
    }
#endif
    return count & 1 ? partita_max(largest, *scores) : largest;
}

PARTITA_COMPACT void partita_attention_weights_u8(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_attention_weights *weights = arguments;
    const int32_t lines = weights->heads * weights->seq;
    const int32_t keys = weights->keys;
    const float unit = weights->unit;
    struct partita_range share = {0, lines};
    struct partita_range part = {0, weights->row};
    if (lines < cores) {
        part = partita_share(weights->row, 4, core, cores);
    } else {
        share = partita_share(lines, 1, core, cores);
    }
    for (int32_t line = share.from; line < share.to; line++) {
        const int32_t *scores = weights->scores + line * keys;
        uint8_t *out = weights->weights + line * weights->row;
        const int32_t largest = largest_of(scores, keys);
        const struct partita_range seen = {part.from, part.to < keys ? part.to : keys};
        if (largest == HIDDEN || unit < LEAST_UNIT) {
            weigh_any(scores, seen, largest, unit, out);
        } else {
            weigh_seen(scores, seen, largest, unit, out);
        }
        for (int32_t i = partita_max(seen.from, seen.to); i < part.to; i++) {
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

/* The sum of a line of bytes, which has whole words. */
static __attribute__((noinline)) uint32_t sum_of(const uint8_t *bytes, int32_t count)
{
    int32_t pairs = count >> 3;
    uint32_t total = 0;
#ifdef PARTITA_XPULP
    uint32_t x, y;
    if (pairs > 0) {
        __asm__(".p2align 2\n"
                ".option push\n"
                ".option norvc\n"
                "lp.setup 0, %[pairs], 4\n"
                "p.lw %[x], %[bytes], %[word]\n"
                "p.lw %[y], %[bytes], %[word]\n"
                "pv.sdotup.b %[total], %[x], %[ones]\n"
                "pv.sdotup.b %[total], %[y], %[ones]\n"
                "lp.end 0\n"
                ".option pop\n"
                : [x] "=&r"(x), [y] "=&r"(y), [bytes] "+r"(bytes), [total] "+r"(total)
                : [word] "r"(4), [ones] "r"(0x01010101), [pairs] "r"(pairs)
                : "memory");
    }
#else
    for (; pairs > 0; pairs--) {
        total = partita_sdotup_b(total, partita_next_word(&bytes, 4), 0x01010101u);
        total = partita_sdotup_b(total, partita_next_word(&bytes, 4), 0x01010101u);
    }
#endif
    return count & 4 ? partita_sdotup_b(total, partita_next_word(&bytes, 4), 0x01010101u) : total;
}

/* The scale of a query's weighted values. */
static inline float scale_of(const uint8_t *weights, int32_t row, float value_scale)
{
    const uint32_t total = sum_of(weights, row);
    return total == 0 ? 0.0f : value_scale / (float)(int32_t)total;
}

/* Stores weighted values of a query. */
PARTITA_INLINE void store_values(const uint32_t sums[PARTITA_BLOCK], float scale, int32_t columns, float *out)
{
    for (int32_t j = 0; j < columns; j++) {
        out[j] = (float)(int32_t)sums[j] * scale;
    }
}

/* Stores the weighted values of a query: keys in tiles leave sums in the place of the results until the last of them. */
PARTITA_INLINE void finish_values(const struct partita_attention_values *attention, uint32_t sums[PARTITA_BLOCK],
                                  float scale, int32_t columns, float *out)
{
    if (attention->first_key > 0) {
        const uint8_t *before = (const uint8_t *)out;
        for (int32_t j = 0; j < columns; j++) {
            sums[j] += partita_next_word(&before, 4);
        }
    }
    if (attention->more_keys) {
        uint8_t *place = (uint8_t *)out;
        for (int32_t j = 0; j < columns; j++) {
            partita_store_word(&place, 4, sums[j]);
        }
    } else {
        store_values(sums, scale, columns, out);
    }
}

/* Weighted values of a query: `features` of them. */
static PARTITA_COMPACT void values_of(const struct partita_attention_values *attention, const uint8_t *line,
                                       const int8_t *v, int32_t features, float *out)
{
    const uint8_t *weights = line + attention->first_key;
    const int32_t v_row = attention->v_row;
    const int32_t keys = attention->keys;
    const float scale = attention->more_keys ? 0.0f : scale_of(line, attention->row, attention->value_scale);
    for (; features > 0; features -= PARTITA_BLOCK) {
        const int32_t columns = partita_at_most_a_block(features);
        const int32_t words = columns == PARTITA_BLOCK ? keys >> 2 : 0;
        uint32_t sums[1][PARTITA_BLOCK];
        if (words > 0) {
            weigh_row(weights, 0, (const uint8_t *)v, v_row, words, sums);
        }
        if (words == 0 || 4 * words < keys) {
            weigh_rest(weights, v, v_row, 4 * words, keys, columns, sums[0]);
        }
        finish_values(attention, sums[0], scale, columns, out);
        v += PARTITA_BLOCK;
        out += PARTITA_BLOCK;
    }
}

/* Stores weighted values of a block: each step for a query's four, as a unit of floats takes some cycles. */
static PARTITA_STAGED void store_block(uint32_t sums[][PARTITA_BLOCK], const float *scales, float *out, int32_t out_row)
{
    for (int32_t i = 0; i < PARTITA_BLOCK; i++) {
        const float scale = scales[i];
        float values[PARTITA_BLOCK];
        PARTITA_UNROLLED (int32_t j = 0; j < PARTITA_BLOCK; j++) {
            values[j] = (float)(int32_t)sums[i][j];
        }
        PARTITA_UNROLLED (int32_t j = 0; j < PARTITA_BLOCK; j++) {
            values[j] *= scale;
        }
        PARTITA_UNROLLED (int32_t j = 0; j < PARTITA_BLOCK; j++) {
            out[j] = values[j];
        }
        out += out_row;
    }
}

/* The same of four queries. */
static PARTITA_COMPACT void values_of_four(const struct partita_attention_values *attention, const uint8_t *lines,
                                        const int8_t *v, int32_t features, float *out)
{
    const int32_t row = attention->row;
    const int32_t v_row = attention->v_row;
    const int32_t keys = attention->keys;
    const uint8_t *weights = lines + attention->first_key;
    float scales[PARTITA_BLOCK];
    for (int32_t i = 0; i < PARTITA_BLOCK; i++) {
        scales[i] = attention->more_keys ? 0.0f : scale_of(lines + i * row, row, attention->value_scale);
    }
    for (; features > 0; features -= PARTITA_BLOCK) {
        const int32_t columns = partita_at_most_a_block(features);
        const int32_t words = columns == PARTITA_BLOCK ? keys >> 2 : 0;
        uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK];
        if (words > 0) {
            weigh_block(weights, row, (const uint8_t *)v, v_row, words, sums);
        }
        if (words == 0 || 4 * words < keys) {
            for (int32_t i = 0; i < PARTITA_BLOCK; i++) {
                weigh_rest(weights + i * row, v, v_row, 4 * words, keys, columns, sums[i]);
            }
        }
        if (columns == PARTITA_BLOCK && attention->first_key == 0 && !attention->more_keys) {
            store_block(sums, scales, out, attention->out_row);
        } else {
            for (int32_t i = 0; i < PARTITA_BLOCK; i++) {
                finish_values(attention, sums[i], scales[i], columns, out + i * attention->out_row);
            }
        }
        v += PARTITA_BLOCK;
        out += PARTITA_BLOCK;
    }
}

/* Weighted values of few queries: cores divide blocks of features of all lines. */
static PARTITA_COMPACT void values_of_few(const struct partita_attention_values *attention, int32_t core, int32_t cores)
{
    const int32_t seq = attention->seq;
    struct line_parts parts = parts_of(attention->heads * seq, attention->dv, core, cores);
    while (parts.left > 0) {
        const int32_t line = parts.line;
        const int32_t head = seq == 1 ? line : line / seq;
        const int32_t query = line - head * seq;
        const struct partita_range part = next_part(&parts, attention->dv);
        const int8_t *v = attention->v + shared_head(head, attention->group) * attention->v_head + part.from;
        float *out = attention->out + head * attention->out_head + query * attention->out_row + part.from;
        values_of(attention, attention->weights + line * attention->row, v, part.to - part.from, out);
    }
}

/* Weighted values of many queries: cores divide blocks. */
static PARTITA_COMPACT void values_of_many(const struct partita_attention_values *attention, int32_t core, int32_t cores)
{
    const int32_t row = attention->row;
    struct blocks own = share_of(attention->heads, attention->seq, attention->dv, core, cores);
    while (own.count > 0) {
        const int32_t rows = partita_at_most_a_block(attention->seq - own.line);
        const int32_t kv_head = shared_head(own.head, attention->group);
        const uint8_t *lines = attention->weights + (own.head * attention->seq + own.line) * row;
        const int8_t *v = attention->v + kv_head * attention->v_head + own.column;
        float *out = attention->out + own.head * attention->out_head + own.line * attention->out_row + own.column;
        const int32_t left = (attention->dv - own.column + PARTITA_BLOCK - 1) / PARTITA_BLOCK;
        const int32_t blocks = left < own.count ? left : own.count;
        const int32_t features = partita_min(blocks * PARTITA_BLOCK, attention->dv - own.column);
        if (rows == PARTITA_BLOCK) {
            values_of_four(attention, lines, v, features, out);
        } else {
            for (int32_t i = 0; i < rows; i++) {
                values_of(attention, lines + i * row, v, features, out + i * attention->out_row);
            }
        }
        advance(&own, attention->seq, attention->dv, blocks);
    }
}

PARTITA_COMPACT void partita_attention_values_i8(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_attention_values *attention = arguments;
    if (attention->seq < PARTITA_BLOCK) {
        values_of_few(attention, core, cores);
    } else {
        values_of_many(attention, core, cores);
    }
}

/* Transposes the values of up to four keys. Lines after the features and words after the keys have zeros. */
static PARTITA_COMPACT void turn_keys(const struct partita_attention_turn *attention, const int8_t *v, int32_t keys,
                                      int8_t *turned)
{
    const int32_t v_row = attention->v_row;
    const int32_t row = attention->row;
    const uint8_t *from = (const uint8_t *)v;
    uint8_t *out = (uint8_t *)turned;
    int32_t feature = 0;
    for (; keys >= PARTITA_BLOCK && feature + PARTITA_BLOCK <= attention->dv; feature += PARTITA_BLOCK) {
        uint32_t words[PARTITA_BLOCK];
        PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_BLOCK; i++) {
            words[i] = partita_next_word(&from, v_row);
        }
        from += PARTITA_BLOCK - PARTITA_BLOCK * v_row;
        turn(words);
        PARTITA_UNROLLED (int32_t i = 0; i < PARTITA_BLOCK; i++) {
            partita_store_word(&out, row, words[i]);
        }
    }
    for (; feature < attention->lines; feature++) {
        uint32_t word = 0;
        for (int32_t i = 0; i < keys && feature < attention->dv; i++) {
            word |= (uint32_t)from[i * v_row] << 8 * i;
        }
        partita_store_word(&out, row, word);
        from++;
    }
}

PARTITA_COMPACT void partita_attention_turn_i8(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_attention_turn *attention = arguments;
    const int32_t words = attention->row >> 2;
    const struct partita_range share = partita_share(attention->heads * words, 1, core, cores);
    for (int32_t item = share.from; item < share.to; item++) {
        const int32_t head = attention->heads == 1 ? 0 : item / words;
        const int32_t key = (item - head * words) * PARTITA_BLOCK;
        const int32_t keys = partita_min(partita_max(attention->keys - key, 0), PARTITA_BLOCK);
        turn_keys(attention, attention->v + head * attention->v_head + key * attention->v_row, keys,
                  attention->turned + head * attention->lines * attention->row + key);
    }
}

/* The most blocks of features whose sums are scaled together. */
enum { FEATURE_BLOCKS = 4 };

/* Stores weighted values of `rows` queries, of which `sums` has four for each feature. */
static PARTITA_COMPACT void store_features(int32_t sums[][PARTITA_BLOCK], const float *scales, int32_t rows,
                                           int32_t features, float *out, int32_t out_row)
{
    for (int32_t i = 0; i < rows; i++) {
        const float scale = scales[i];
        int32_t j = 0;
        for (; j + PARTITA_BLOCK <= features; j += PARTITA_BLOCK) {
            float values[PARTITA_BLOCK];
            PARTITA_UNROLLED (int32_t next = 0; next < PARTITA_BLOCK; next++) {
                values[next] = (float)sums[j + next][i];
            }
            PARTITA_UNROLLED (int32_t next = 0; next < PARTITA_BLOCK; next++) {
                out[j + next] = values[next] * scale;
            }
        }
        for (; j < features; j++) {
            out[j] = (float)sums[j][i] * scale;
        }
        out += out_row;
    }
}

PARTITA_COMPACT void partita_attention_turned_values_i8(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_attention_turned_values *attention = arguments;
    const int32_t zeros[PARTITA_BLOCK] = {0};
    const int32_t row = attention->row;
    const int32_t words = partita_max((attention->keys + 3) >> 2, 1);
    struct blocks own = share_of(attention->heads, attention->seq, attention->dv, core, cores);
    while (own.count > 0) {
        const int32_t rows = partita_at_most_a_block(attention->seq - own.line);
        const int32_t features = attention->dv - own.column;
        const int32_t left = partita_min((features + PARTITA_BLOCK - 1) / PARTITA_BLOCK, own.count);
        const uint8_t *weights = attention->weights + (own.head * attention->seq + own.line) * row;
        const int8_t *turned =
            attention->turned + (own.head / attention->group * attention->lines + own.column) * row;
        float *out = attention->out + own.head * attention->out_head + own.line * attention->out_row + own.column;
        float scales[PARTITA_BLOCK];
        for (int32_t i = 0; i < rows; i++) {
            scales[i] = scale_of(weights + i * row, row, attention->value_scale);
        }
        for (int32_t block = 0; block < left; block += FEATURE_BLOCKS) {
            int32_t sums[FEATURE_BLOCKS * PARTITA_BLOCK][PARTITA_BLOCK];
            const int32_t first = block * PARTITA_BLOCK;
            const int32_t blocks = partita_min(left - block, FEATURE_BLOCKS);
            weigh_features((const uint8_t *)turned + first * row, weights, row, words, zeros, sums[0], PARTITA_BLOCK,
                           blocks);
            store_features(sums, scales, rows, partita_min(features - first, blocks * PARTITA_BLOCK), out + first,
                           attention->out_row);
        }
        advance(&own, attention->seq, attention->dv, left);
    }
}
