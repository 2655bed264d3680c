#include "integer_attention.h"

#include "gemm_bytes.h"
#include "gemm_turned.h"
#include "integer_attention_parts.h"

PARTITA_MULTIPLY_TURNED_BLOCK(weigh_block, partita_sdotusp_b, "pv.sdotusp.b")
PARTITA_MULTIPLY_TURNED_ROW(weigh_row, partita_sdotusp_b, "pv.sdotusp.b")
PARTITA_MULTIPLY_BLOCKS(weigh_features, partita_sdotspu_b, "pv.sdotspu.b")

/* Sums of a query's weighted values over keys from `from` on, added to the sums before if there are any, for some features. */
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

/* Stores the weighted values of a query. If keys come in tiles, sums are in the place of the results until the last tile. */
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
        for (int32_t j = 0; j < columns; j++) {
            out[j] = (float)(int32_t)sums[j] * scale;
        }
    }
}

/* Weighted values of a query: `features` of them. */
static PARTITA_COMPACT void values_of_one(const struct partita_attention_values *attention, const uint8_t *line,
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

/* Stores a block of weighted values: each step for a query's four before the next, since a float operation takes some cycles. */
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

/* Weighted values of four queries. */
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

/* Of fewer than four queries: cores divide the lines of weighted values, in blocks of four features. */
static PARTITA_COMPACT void values_of_few(const struct partita_attention_values *attention, int32_t core, int32_t cores)
{
    const int32_t seq = attention->seq;
    struct partita_line_blocks own = partita_line_blocks(attention->heads * seq, attention->dv, core, cores);
    while (own.count > 0) {
        const int32_t line = own.line;
        const int32_t head = seq == 1 ? line : line / seq;
        const int32_t query = line - head * seq;
        const struct partita_range features = partita_next_columns(&own, attention->dv);
        const int8_t *v = attention->v + partita_kv_head(head, attention->group) * attention->v_head + features.from;
        float *out = attention->out + head * attention->out_head + query * attention->out_row + features.from;
        values_of_one(attention, attention->weights + line * attention->row, v, features.to - features.from, out);
    }
}

/* Of more queries: cores divide blocks of four queries by four features. */
static PARTITA_COMPACT void values_of_many(const struct partita_attention_values *attention, int32_t core, int32_t cores)
{
    const int32_t row = attention->row;
    struct partita_attention_blocks own =
        partita_attention_blocks(attention->heads, attention->seq, attention->dv, core, cores);
    while (own.count > 0) {
        const int32_t rows = partita_at_most_a_block(attention->seq - own.line);
        const int32_t kv_head = partita_kv_head(own.head, attention->group);
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
                values_of_one(attention, lines + i * row, v, features, out + i * attention->out_row);
            }
        }
        partita_next_blocks(&own, attention->seq, attention->dv, blocks);
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

/* Transposes the values of up to four keys: a word of each line, with zeros after the keys and in lines after the features. */
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
    struct partita_attention_blocks own =
        partita_attention_blocks(attention->heads, attention->seq, attention->dv, core, cores);
    while (own.count > 0) {
        const int32_t rows = partita_at_most_a_block(attention->seq - own.line);
        const int32_t features = attention->dv - own.column;
        const int32_t left = partita_min((features + PARTITA_BLOCK - 1) / PARTITA_BLOCK, own.count);
        const uint8_t *weights = attention->weights + (own.head * attention->seq + own.line) * row;
        const int8_t *turned =
            attention->turned + (partita_kv_head(own.head, attention->group) * attention->lines + own.column) * row;
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
        partita_next_blocks(&own, attention->seq, attention->dv, left);
    }
}
