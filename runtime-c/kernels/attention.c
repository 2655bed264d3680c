#include "attention.h"

#include "exponential.h"

/*
 * The number of keys whose scores are held at a time, and of those whose scores are computed at a time, with sums that
 * don't wait for each other. Values are added in as many features at a time as there are sums that fit registers.
 */
enum { KEYS = 32, NEAR_KEYS = 4, FEATURES = 8 };

/* Adds to `sums` the next size / terms * terms terms of the products of a query with `count` keys, and advances. */
PARTITA_INLINE void add_terms(const float **q, const float *keys[NEAR_KEYS], int32_t size, int32_t terms, int32_t count,
                              float sums[NEAR_KEYS])
{
    for (; size >= terms; size -= terms) {
        PARTITA_UNROLLED (int32_t term = 0; term < terms; term++) {
            const float x = (*q)[term];
            float y[NEAR_KEYS];
            PARTITA_UNROLLED (int32_t key = 0; key < count; key++) {
                y[key] = keys[key][term];
            }
            PARTITA_UNROLLED (int32_t key = 0; key < count; key++) {
                sums[key] += x * y[key];
            }
        }
        *q += terms;
        PARTITA_UNROLLED (int32_t key = 0; key < count; key++) {
            keys[key] += terms;
        }
    }
}

/* Dot products of a query with `count` keys, NEAR_KEYS or 1, times `scale`. */
PARTITA_INLINE void dot(const float *q, const float *k, int32_t k_row, int32_t d, float scale, int32_t count,
                        float *out)
{
    float sums[NEAR_KEYS];
    const float *keys[NEAR_KEYS];
    PARTITA_UNROLLED (int32_t key = 0; key < count; key++) {
        sums[key] = 0;
        keys[key] = k + key * k_row;
    }
    add_terms(&q, keys, d, 4, count, sums);
    add_terms(&q, keys, d & 3, 1, count, sums);
    PARTITA_UNROLLED (int32_t key = 0; key < count; key++) {
        out[key] = sums[key] * scale;
    }
}

static PARTITA_COMPACT void dot_keys(const float *q, const float *k, int32_t k_row, int32_t d, float scale, float *out)
{
    dot(q, k, k_row, d, scale, NEAR_KEYS, out);
}

static PARTITA_COMPACT void dot_key(const float *q, const float *k, int32_t d, float scale, float *out)
{
    dot(q, k, 0, d, scale, 1, out);
}

/* The keys that a query sees, unless they are masked. */
static struct partita_range seen(const struct partita_attention *attention, int32_t query)
{
    const int32_t position = attention->position + query;
    const struct partita_range range = {attention->window > 0 ? position - attention->window + 1 : 0,
                                        attention->causal ? position + 1 : attention->keys};
    return range;
}

/* Caps and masks `count` scores of keys from `key` on, `mask` being the mask's offset for the first. */
static PARTITA_COMPACT void mask_scores(const struct partita_attention *attention, struct partita_range seen, int32_t key,
                                        int32_t mask, int32_t count, float *scores)
{
    const float cap = attention->soft_cap;
    for (int32_t i = 0; i < count; i++) {
        if (key + i < seen.from || key + i >= seen.to || (attention->allowed != 0 && !attention->allowed[mask])) {
            scores[i] = -PARTITA_INFINITY;
        } else {
            const float capped = cap > 0 ? cap * partita_tanh(scores[i] / cap) : scores[i];
            scores[i] = attention->added == 0 ? capped : capped + attention->added[mask];
        }
        mask += attention->mask_key;
    }
}

/* The scores of `count` keys from `key` on. */
static PARTITA_COMPACT void find_scores(const struct partita_attention *attention, int32_t head, int32_t query,
                                        int32_t key, int32_t count, float *scores)
{
    const float *q = attention->q + head * attention->q_head + query * attention->q_row;
    const float *k = attention->k + head / attention->group * attention->k_head + key * attention->k_row;
    const struct partita_range range = seen(attention, query);
    int32_t near;
    for (int32_t i = 0; i < count; i += near) {
        near = count - i < NEAR_KEYS ? 1 : NEAR_KEYS;
        if (key + i >= range.to || key + i + near <= range.from) {
            continue;
        }
        const float *first = k + i * attention->k_row;
        if (near == 1) {
            dot_key(q, first, attention->d, attention->scale, scores + i);
        } else {
            dot_keys(q, first, attention->k_row, attention->d, attention->scale, scores + i);
        }
    }
    const int32_t are_seen = key >= range.from && key + count <= range.to;
    if (!are_seen || attention->allowed != 0 || attention->added != 0 || attention->soft_cap > 0) {
        const int32_t mask = head * attention->mask_head + query * attention->mask_row + key * attention->mask_key;
        mask_scores(attention, range, key, mask, count, scores);
    }
}

/* Adds to `features` (FEATURES or 1) sums the values of `count` keys, weighted. */
PARTITA_INLINE void add_values(const float *weights, int32_t count, const float *v, int32_t v_row, int32_t features,
                               float *out)
{
    float sums[FEATURES];
    PARTITA_UNROLLED (int32_t j = 0; j < features; j++) {
        sums[j] = out[j];
    }
    for (int32_t i = 0; i < count; i++) {
        const float weight = weights[i];
        float values[FEATURES];
        PARTITA_UNROLLED (int32_t j = 0; j < features; j++) {
            values[j] = v[j];
        }
        PARTITA_UNROLLED (int32_t j = 0; j < features; j++) {
            sums[j] += weight * values[j];
        }
        v += v_row;
    }
    PARTITA_UNROLLED (int32_t j = 0; j < features; j++) {
        out[j] = sums[j];
    }
}

static PARTITA_COMPACT void add_features(const float *weights, int32_t count, const float *v, int32_t v_row, float *out)
{
    add_values(weights, count, v, v_row, FEATURES, out);
}

static PARTITA_COMPACT void add_feature(const float *weights, int32_t count, const float *v, int32_t v_row, float *out)
{
    add_values(weights, count, v, v_row, 1, out);
}

/* Replaces whole groups of scores, before one that isn't within the range, by e^(score - largest); returns their number. */
static PARTITA_STAGED int32_t weigh_groups(float *scores, int32_t count, float largest)
{
    int32_t next = 0;
    for (; next + PARTITA_GROUP <= count; next += PARTITA_GROUP, scores += PARTITA_GROUP) {
        float values[PARTITA_GROUP];
        PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
            values[e] = scores[e];
        }
        PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
            values[e] -= largest;
        }
        if (!partita_exponentials(values, PARTITA_GROUP)) {
            return next;
        }
        PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
            scores[e] = values[e];
        }
    }
    return next;
}

/* Replaces scores by e^(score - largest). */
static PARTITA_COMPACT void weigh(float *scores, int32_t count, float largest)
{
    for (int32_t next = 0; next < count;) {
        next += weigh_groups(scores + next, count - next, largest);
        for (int32_t e = 0; e < PARTITA_GROUP && next < count; e++, next++) {
            scores[next] = partita_exp(scores[next] - largest);
        }
    }
}

/* Adds the values of `count` keys, weighted by their scores, which are lost. */
static PARTITA_COMPACT void add_block(const struct partita_attention *attention, float *scores, int32_t count,
                                      const float *v, int32_t item)
{
    float *sums = attention->sums + item * attention->dv;
    float largest = attention->largest[item];
    float weight = attention->weights[item];
    for (int32_t i = 0; i < count; i++) {
        largest = scores[i] > largest || scores[i] != scores[i] ? scores[i] : largest;
    }
    if (largest == -PARTITA_INFINITY) {
        return;
    }
    if (largest != attention->largest[item]) {
        float shrink = attention->largest[item];
        weigh(&shrink, 1, largest);
        weight *= shrink;
        for (int32_t i = 0; i < attention->dv; i++) {
            sums[i] *= shrink;
        }
    }
    weigh(scores, count, largest);
    for (int32_t i = 0; i < count; i++) {
        weight += scores[i];
    }
    int32_t j = 0;
    for (; j <= attention->dv - FEATURES; j += FEATURES) {
        add_features(scores, count, v + j, attention->v_row, sums + j);
    }
    for (; j < attention->dv; j++) {
        add_feature(scores, count, v + j, attention->v_row, sums + j);
    }
    attention->largest[item] = largest;
    attention->weights[item] = weight;
}

void partita_attention_f32(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_attention *attention = arguments;
    const int32_t queries = attention->heads * attention->seq;
    const struct partita_range share = partita_share(attention->parts * queries, 1, core, cores);
    for (int32_t item = share.from; item < share.to; item++) {
        const int32_t head = item % queries / attention->seq;
        const int32_t query = item % attention->seq;
        const struct partita_range keys = partita_share(attention->keys, 1, item / queries, attention->parts);
        if (attention->first) {
            attention->largest[item] = -PARTITA_INFINITY;
            attention->weights[item] = 0;
            for (int32_t i = 0; i < attention->dv; i++) {
                attention->sums[item * attention->dv + i] = 0;
            }
        }
        for (int32_t key = keys.from; key < keys.to; key += KEYS) {
            const float *v = attention->v + head / attention->group * attention->v_head + key * attention->v_row;
            const int32_t count = keys.to - key < KEYS ? keys.to - key : KEYS;
            float scores[KEYS];
            find_scores(attention, head, query, key, count, scores);
            add_block(attention, scores, count, v, item);
        }
    }
}

/* From how many features on cores share those of one query. */
enum { SHARED_FEATURES = 32 };

void partita_attention_finish_f32(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_attention_finish *finish = arguments;
    const int32_t queries = finish->heads * finish->seq;
    struct partita_range items = {0, queries};
    struct partita_range features = {0, finish->dv};
    if (queries < cores && finish->dv >= SHARED_FEATURES) {
        features = partita_share(finish->dv, FEATURES, core, cores);
    } else {
        items = partita_share(queries, 1, core, cores);
    }
    for (int32_t item = items.from; item < items.to; item++) {
        const int32_t head = item / finish->seq;
        float *restrict out = finish->out + head * finish->out_head + item % finish->seq * finish->out_row;
        float largest = -PARTITA_INFINITY;
        float weight = 0;
        for (int32_t part = 0; part < finish->parts; part++) {
            const float found = finish->largest[part * queries + item];
            largest = found > largest || found != found ? found : largest;
        }
        for (int32_t i = features.from; i < features.to; i++) {
            out[i] = 0;
        }
        for (int32_t part = 0; part < finish->parts && largest != -PARTITA_INFINITY; part++) {
            const int32_t state = part * queries + item;
            const float shrink = partita_exp(finish->largest[state] - largest);
            weight += finish->weights[state] * shrink;
            for (int32_t i = features.from; i < features.to; i++) {
                out[i] += finish->sums[state * finish->dv + i] * shrink;
            }
        }
        const float inverse = weight == 0 ? 0.0f : 1.0f / weight;
        for (int32_t i = features.from; i < features.to; i++) {
            out[i] *= inverse;
        }
    }
}
