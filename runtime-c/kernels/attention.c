#include "attention.h"

#include "float_functions.h"

/* The number of keys whose scores are held at a time. */
enum { KEYS = 8 };

static float score(const struct partita_attention *attention, const float *q, const float *k)
{
    float sum = 0;
    for (int32_t i = 0; i < attention->d; i++) {
        sum += q[i] * k[i];
    }
    const float scaled = sum * attention->scale;
    const float cap = attention->soft_cap;
    return cap > 0 ? cap * partita_tanh(scaled / cap) : scaled;
}

static int32_t is_seen(const struct partita_attention *attention, int32_t query, int32_t key)
{
    const int32_t position = attention->position + query;
    return !(attention->causal && key > position) && !(attention->window > 0 && position - key >= attention->window);
}

static float masked_score(const struct partita_attention *attention, int32_t head, int32_t query, int32_t key)
{
    const int32_t at =
        head * attention->mask_head + query * attention->mask_row + key * attention->mask_key;
    if (!is_seen(attention, query, key) || (attention->allowed != 0 && !attention->allowed[at])) {
        return -PARTITA_INFINITY;
    }
    const float *q = attention->q + head * attention->q_head + query * attention->q_row;
    const float *k = attention->k + head / attention->group * attention->k_head + key * attention->k_row;
    const float found = score(attention, q, k);
    return attention->added == 0 ? found : found + attention->added[at];
}

/* Adds the values of `count` keys, weighted by their scores. */
static void add_block(const struct partita_attention *attention, const float *scores, int32_t count, const float *v,
                      int32_t item)
{
    float *sums = attention->sums + item * attention->dv;
    float weights[KEYS];
    float largest = attention->largest[item];
    float weight = attention->weights[item];
    for (int32_t i = 0; i < count; i++) {
        largest = scores[i] > largest || scores[i] != scores[i] ? scores[i] : largest;
    }
    if (largest == -PARTITA_INFINITY) {
        return;
    }
    if (largest != attention->largest[item]) {
        const float shrink = partita_exp(attention->largest[item] - largest);
        weight *= shrink;
        for (int32_t i = 0; i < attention->dv; i++) {
            sums[i] *= shrink;
        }
    }
    for (int32_t i = 0; i < count; i++) {
        weights[i] = partita_exp(scores[i] - largest);
        weight += weights[i];
    }
    for (int32_t j = 0; j < attention->dv; j++) {
        float sum = sums[j];
        for (int32_t i = 0; i < count; i++) {
            sum += weights[i] * v[i * attention->v_row + j];
        }
        sums[j] = sum;
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
            for (int32_t i = 0; i < count; i++) {
                scores[i] = masked_score(attention, head, query, key + i);
            }
            add_block(attention, scores, count, v, item);
        }
    }
}

void partita_attention_finish_f32(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_attention_finish *finish = arguments;
    const int32_t queries = finish->heads * finish->seq;
    const struct partita_range share = partita_share(queries, 1, core, cores);
    for (int32_t item = share.from; item < share.to; item++) {
        const int32_t head = item / finish->seq;
        float *restrict out = finish->out + head * finish->out_head + item % finish->seq * finish->out_row;
        float largest = -PARTITA_INFINITY;
        float weight = 0;
        for (int32_t part = 0; part < finish->parts; part++) {
            const float found = finish->largest[part * queries + item];
            largest = found > largest || found != found ? found : largest;
        }
        for (int32_t i = 0; i < finish->dv; i++) {
            out[i] = 0;
        }
        for (int32_t part = 0; part < finish->parts && largest != -PARTITA_INFINITY; part++) {
            const int32_t state = part * queries + item;
            const float shrink = partita_exp(finish->largest[state] - largest);
            weight += finish->weights[state] * shrink;
            for (int32_t i = 0; i < finish->dv; i++) {
                out[i] += finish->sums[state * finish->dv + i] * shrink;
            }
        }
        const float inverse = weight == 0 ? 0.0f : 1.0f / weight;
        for (int32_t i = 0; i < finish->dv; i++) {
            out[i] *= inverse;
        }
    }
}
