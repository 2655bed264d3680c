/* Products, attention and convolutions of accelerated.c. */
#include "accelerated.h"

#include "../../../kernels/convolution.h"
#include "../../../kernels/gemm.h"
#include "../../../kernels/integer_attention.h"
#include "../../../kernels/nibble_gemm.h"

partita_kernel portable_gemm_i8_i8, portable_gemm_i8_u8, portable_gemm_u8_i8, portable_gemm_u8_u8, portable_gemv_i8_i8,
    portable_gemv_i8_u8, portable_gemv_u8_i8, portable_gemv_u8_u8, portable_gemv_requantize_i8_i8_u8,
    portable_gemv_requantize_i8_i8_i32, portable_gemv_requantize_u8_i8_i8, portable_gemv_requantize_u8_i8_u8,
    portable_gemv_requantize_u8_i8_i32, portable_gemm_requantize_i8_i8_i8, portable_gemm_requantize_i8_i8_u8,
    portable_gemm_requantize_u8_i8_i8, portable_gemm_requantize_u8_i8_u8, portable_gemm_requantize_i8_i8_i32,
    portable_gemv_requantize_i8_i8_i8, portable_attention_scores_i8, portable_attention_weights_u8,
    portable_attention_values_i8, portable_attention_turn_i8, portable_attention_turned_values_i8,
    portable_nibble_gemm_i8_f32, portable_nibble_gemm_i8_bf16, portable_nibble_gemm_u8_f32,
    portable_nibble_gemm_u8_bf16, portable_convolution_i8_i8, portable_convolution_u8_i8, portable_convolution_i32_i8,
    portable_convolution_i32_i32, portable_convolution_requantize_i8_i8_i8, portable_convolution_requantize_i8_i8_u8,
    portable_convolution_requantize_u8_i8_i8, portable_convolution_requantize_u8_i8_u8, portable_convolution_f32,
    portable_gemm_requantize_u8_i8_i32;

static const struct pair sums[] = {{partita_gemm_i8_i8, portable_gemm_i8_i8, 0},
                                   {partita_gemm_i8_u8, portable_gemm_i8_u8, 0},
                                   {partita_gemm_u8_i8, portable_gemm_u8_i8, 0},
                                   {partita_gemm_u8_u8, portable_gemm_u8_u8, 0},
                                   {partita_gemv_i8_i8, portable_gemv_i8_i8, 1}};

/* Those with 32-bit results come last. */
static const struct pair requantized[] = {{partita_gemm_requantize_i8_i8_i8, portable_gemm_requantize_i8_i8_i8, 0},
                                          {partita_gemm_requantize_i8_i8_u8, portable_gemm_requantize_i8_i8_u8, 0},
                                          {partita_gemm_requantize_u8_i8_i8, portable_gemm_requantize_u8_i8_i8, 0},
                                          {partita_gemm_requantize_u8_i8_u8, portable_gemm_requantize_u8_i8_u8, 0},
                                          {partita_gemv_requantize_i8_i8_i8, portable_gemv_requantize_i8_i8_i8, 1},
                                          {partita_gemm_requantize_i8_i8_i32, portable_gemm_requantize_i8_i8_i32, 0},
                                          {partita_gemm_requantize_u8_i8_i32, portable_gemm_requantize_u8_i8_i32, 0}};

static const struct pair rows[] = {{partita_gemv_i8_i8, portable_gemv_i8_i8, 1},
                                   {partita_gemv_i8_u8, portable_gemv_i8_u8, 1},
                                   {partita_gemv_u8_i8, portable_gemv_u8_i8, 1},
                                   {partita_gemv_u8_u8, portable_gemv_u8_u8, 1}};

/* Those with 32-bit results come last. */
static const struct pair requantized_rows[] = {
    {partita_gemv_requantize_i8_i8_i8, portable_gemv_requantize_i8_i8_i8, 1},
    {partita_gemv_requantize_i8_i8_u8, portable_gemv_requantize_i8_i8_u8, 1},
    {partita_gemv_requantize_u8_i8_i8, portable_gemv_requantize_u8_i8_i8, 1},
    {partita_gemv_requantize_u8_i8_u8, portable_gemv_requantize_u8_i8_u8, 1},
    {partita_gemv_requantize_i8_i8_i32, portable_gemv_requantize_i8_i8_i32, 1},
    {partita_gemv_requantize_u8_i8_i32, portable_gemv_requantize_u8_i8_i32, 1}};

static const struct pair scores = {partita_attention_scores_i8, portable_attention_scores_i8, 0};
static const struct pair weights = {partita_attention_weights_u8, portable_attention_weights_u8, 0};
static const struct pair values = {partita_attention_values_i8, portable_attention_values_i8, 0};
static const struct pair turn = {partita_attention_turn_i8, portable_attention_turn_i8, 0};
static const struct pair turned = {partita_attention_turned_values_i8, portable_attention_turned_values_i8, 0};

static const struct pair nibbles[] = {{partita_nibble_gemm_i8_f32, portable_nibble_gemm_i8_f32, 0},
                                      {partita_nibble_gemm_i8_bf16, portable_nibble_gemm_i8_bf16, 0},
                                      {partita_nibble_gemm_u8_f32, portable_nibble_gemm_u8_f32, 0},
                                      {partita_nibble_gemm_u8_bf16, portable_nibble_gemm_u8_bf16, 0}};

static const struct pair convolutions[] = {{partita_convolution_i8_i8, portable_convolution_i8_i8, 0},
                                           {partita_convolution_u8_i8, portable_convolution_u8_i8, 0},
                                           {partita_convolution_i32_i8, portable_convolution_i32_i8, 0},
                                           {partita_convolution_i32_i32, portable_convolution_i32_i32, 0}};

static const struct pair convolution_of_floats = {partita_convolution_f32, portable_convolution_f32, 0};

static const struct pair requantized_convolutions[] = {
    {partita_convolution_requantize_i8_i8_i8, portable_convolution_requantize_i8_i8_i8, 0},
    {partita_convolution_requantize_i8_i8_u8, portable_convolution_requantize_i8_i8_u8, 0},
    {partita_convolution_requantize_u8_i8_i8, portable_convolution_requantize_u8_i8_i8, 0},
    {partita_convolution_requantize_u8_i8_u8, portable_convolution_requantize_u8_i8_u8, 0}};

static struct partita_gemm product(uint8_t *left, uint8_t *right, const int32_t *bias, int32_t m)
{
    struct partita_gemm gemm = {.left = left + below(4), .right = right + below(4), .batch = 1, .group = 1, .m = m};
    gemm.bias = below(2) ? bias : 0;
    gemm.n = 1 + below(MOST);
    gemm.k = below(MOST + 1);
    const int32_t is_left_turned = below(8) == 0;
    const int32_t is_right_turned = below(2);
    gemm.left_row = is_left_turned ? 1 : gemm.k;
    gemm.left_column = is_left_turned ? m : 1;
    gemm.right_row = is_right_turned ? 1 : gemm.n;
    gemm.right_column = is_right_turned ? gemm.k : 1;
    gemm.out_row = gemm.n;
    return gemm;
}

/* A product and its requantisation: multipliers and addends are at `words`, of any value or as networks have them. */
static void requantize(uint8_t *left, uint8_t *right, int32_t *words, int32_t round, uint8_t *one, uint8_t *other)
{
    const struct pair *pair = &requantized[round % 7];
    struct partita_gemm_requantize requantize = {.multiplier = words + MOST,
                                                 .addend = words + 2 * MOST,
                                                 .shift = below(63),
                                                 .low = below(2) ? -128 : 0,
                                                 .high = 100};
    requantize.gemm = product(left, right, words, pair->is_vector ? 1 : 1 + below(MOST));
    requantize.multiplier_row = below(4) == 0;
    requantize.multiplier_column = !requantize.multiplier_row && below(4) > 0;
    requantize.addend_column = below(2);
    if (below(2)) {
        const int32_t bits = 1 + below(31);
        for (int32_t i = 0; i < MOST; i++) {
            words[MOST + i] = (int32_t)(next() >> bits);
        }
    }
    const int32_t bytes = round % 7 < 5 ? 1 : 4;
    compare(pair, &requantize, &requantize.gemm.out, one, other, bytes * requantize.gemm.m * requantize.gemm.n);
}

/*
 * Up to four rows by whole words of columns, as products of a token or of a part of a prompt are: up to 12 columns for each core,
 * with a multiplier and an addend for each column, or one for all. `words` has 3 * COLUMNS numbers: biases, multipliers, addends.
 */
static __attribute__((noinline)) void multiply_few_rows(uint8_t *left, uint8_t *right, int32_t *words, int32_t round,
                                                        uint8_t *one, uint8_t *other)
{
    const int32_t n = 4 * (1 + below(COLUMNS / 4));
    const int32_t k = 4 * (1 + below(DEPTH / 4));
    const int32_t m = below(2) ? 1 : 2 + below(3);
    struct partita_gemm gemm = {.left = left + 4 * below(2), .right = right + 4 * below(2), .batch = 1, .group = 1, .m = m};
    gemm.bias = below(2) ? words : 0;
    gemm.n = n, gemm.k = k;
    gemm.left_row = k, gemm.left_column = 1, gemm.right_row = 1, gemm.right_column = k, gemm.out_row = n;
    gemm.accumulate = below(2);
    for (int32_t i = 0; i < 4 * m * n; i++) {
        one[i] = other[i] = (uint8_t)next();
    }
    compare(&rows[round % 4], &gemm, &gemm.out, one, other, 4 * m * n);
    gemm.accumulate = 0;
    struct partita_gemm_requantize requantize = {.gemm = gemm,
                                                 .multiplier = words + COLUMNS,
                                                 .addend = words + 2 * COLUMNS,
                                                 .shift = below(3) ? 33 + below(30) : below(33),
                                                 .low = below(2) ? -128 : 0,
                                                 .high = 100};
    requantize.multiplier_column = below(4) > 0;
    requantize.addend_column = below(4) > 0;
    requantize.multiplier_row = below(4) == 0;
    const int32_t bits = below(32);
    for (int32_t i = 0; i < COLUMNS; i++) {
        words[COLUMNS + i] = (int32_t)(next() >> bits);
    }
    compare(&requantized_rows[round % 6], &requantize, &requantize.gemm.out, one, other, (round % 6 < 4 ? 1 : 4) * m * n);
}

void compare_products(uint8_t *left, uint8_t *right, int32_t *words, int32_t round, uint8_t *one, uint8_t *other)
{
    fill((uint8_t *)words, 12 * MOST);
    const struct pair *pair = &sums[round % 5];
    struct partita_gemm gemm = product(left, right, words, pair->is_vector ? 1 : 1 + below(MOST));
    gemm.accumulate = below(2);
    const int32_t bytes = 4 * gemm.m * gemm.n;
    fill(one, bytes);
    copy_to_both(one, bytes, one, other);
    compare(pair, &gemm, &gemm.out, one, other, bytes);
    fill((uint8_t *)words, 12 * MOST);
    requantize(left, right, words, round, one, other);
    fill((uint8_t *)words, 12 * COLUMNS);
    multiply_few_rows(left, right, words, round, one, other);
}

struct heads {
    int32_t heads;
    int32_t group;
    int32_t seq;
    int32_t keys;
    int32_t d; /* features */
};

/* Scores, weights and values; the results of each become operands of the next. */
static void attend(struct heads of, uint8_t *left, uint8_t *right, uint32_t *words, uint8_t *one, uint8_t *other)
{
    const int32_t group = of.group, heads = of.heads, seq = of.seq, keys = of.keys, d = of.d;
    const int32_t row = (keys + 3) / 4 * 4;
    const int32_t results = 4 * heads * seq * (keys + 3 > d ? keys + 3 : d);
    struct partita_attention_scores score = {.q = (const int8_t *)left + below(4), .k = (const int8_t *)right + below(4)};
    score.heads = heads, score.group = group, score.seq = seq, score.keys = keys, score.d = d;
    score.q_row = d + below(4), score.q_head = seq * score.q_row;
    score.k_row = d + below(4), score.k_head = keys * score.k_row;
    fill_scales(words, keys + seq);
    for (int32_t i = 0; i < keys + seq; i++) {
        left[i] = (uint8_t)below(4); /* of a mask, and of queries */
    }
    score.allowed = below(2) ? left : 0, score.added = below(2) ? (const float *)words : 0;
    score.mask_row = below(2), score.mask_key = 1, score.inverse_scale = 0.25f;
    score.causal = below(2), score.window = below(2) * (1 + below(8)), score.position = below(keys);
    score.scores_row = keys + below(4);
    const int32_t spread = 4 * heads * seq * score.scores_row;
    for (int32_t i = 0; i < spread; i++) {
        one[i] = other[i] = 0;
    }
    compare(&scores, &score, (void **)&score.scores, one, other, spread);
    score.scores_row = 0;
    compare(&scores, &score, (void **)&score.scores, one, other, 4 * heads * seq * keys);
    struct partita_attention_weights weight = {.scores = (const int32_t *)one, .heads = heads, .seq = seq, .keys = keys};
    weight.row = row, weight.unit = 1.0f / (float)(1 << below(12));
    uint8_t *of_one = one + results;
    uint8_t *of_other = other + results;
    compare(&weights, &weight, (void **)&weight.weights, of_one, of_other, heads * seq * row);
    struct partita_attention_values value = {.weights = of_one, .v = (const int8_t *)right + below(4), .row = row};
    value.heads = heads, value.group = group, value.seq = seq, value.keys = keys, value.dv = d;
    value.v_row = d + below(4), value.v_head = keys * value.v_row, value.value_scale = 0.01f;
    value.out_row = d, value.out_head = seq * d;
    compare(&values, &value, (void **)&value.out, one, other, 4 * heads * seq * d);
    value.keys = 4 * below((keys + 3) / 4), value.more_keys = 1;
    compare(&values, &value, (void **)&value.out, one, other, 4 * heads * seq * d);
    value.first_key = value.keys, value.v += value.keys * value.v_row, value.keys = keys - value.keys, value.more_keys = 0;
    compare(&values, &value, (void **)&value.out, one, other, 4 * heads * seq * d);
    value.v -= value.first_key * value.v_row;
    struct partita_attention_turn turning = {.v = value.v, .heads = heads / group, .keys = keys, .dv = d, .row = row};
    turning.lines = (d + 3) / 4 * 4, turning.v_head = value.v_head, turning.v_row = value.v_row;
    const int32_t bytes = heads / group * turning.lines * row;
    compare(&turn, &turning, (void **)&turning.turned, left, left + bytes, bytes);
    struct partita_attention_turned_values last = {.weights = of_one, .turned = (const int8_t *)left, .row = row};
    last.heads = heads, last.group = group, last.seq = seq, last.keys = keys, last.dv = d, last.lines = turning.lines;
    last.value_scale = 0.01f, last.out_row = d, last.out_head = seq * d;
    compare(&turned, &last, (void **)&last.out, one, other, 4 * heads * seq * d);
}

void compare_attention(uint8_t *left, uint8_t *right, uint32_t *words, uint8_t *one, uint8_t *other)
{
    struct heads few = {.group = 1 + below(2), .seq = below(2) ? 1 : 1 + below(13), .keys = 1 + below(19), .d = 1 + below(17)};
    few.heads = few.group * (1 + below(2));
    attend(few, left, right, words, one, other);
}

/* Sums of up to 256 terms, in whole blocks and others, of up to three matrices. */
static void multiply_long(uint8_t *left, uint8_t *right, int32_t *words, int32_t round, uint8_t *one, uint8_t *other)
{
    struct partita_gemm gemm = {.left = left, .right = right, .bias = below(2) ? words : 0, .batch = 1 + below(3)};
    gemm.group = 1, gemm.m = 1 + below(26), gemm.n = below(2) ? 4 * (1 + below(6)) : 1 + below(24);
    gemm.k = below(4) ? 4 * (16 + below(49)) : 64 + below(193);
    gemm.left_batch = gemm.m * gemm.k, gemm.left_row = gemm.k, gemm.left_column = 1;
    gemm.right_batch = below(2) ? gemm.n * gemm.k : 0, gemm.right_row = 1, gemm.right_column = gemm.k;
    gemm.out_batch = gemm.m * gemm.n, gemm.out_row = gemm.n;
    const int32_t count = gemm.batch * gemm.m * gemm.n;
    for (int32_t i = 0; i < 4 * count; i++) {
        one[i] = other[i] = (uint8_t)next();
    }
    gemm.accumulate = below(2);
    compare(&sums[round % 4], &gemm, &gemm.out, one, other, 4 * count);
    gemm.accumulate = 0;
    struct partita_gemm_requantize requantize = {.gemm = gemm, .multiplier = words + MOST, .addend = words + 2 * MOST};
    requantize.shift = 36 + below(8), requantize.low = -128, requantize.high = 127;
    requantize.multiplier_column = below(2), requantize.addend_column = below(2);
    for (int32_t i = MOST; i < 2 * MOST; i++) {
        words[i] = (int32_t)(next() >> 1);
    }
    compare(&requantized[round % 4], &requantize, &requantize.gemm.out, one, other, count);
}

void compare_long_products(int32_t round)
{
    enum { LONG = 3 * 26 * 256, RESULTS = 32 * 1024 };
    uint8_t *left = partita_l1;
    uint8_t *right = left + 2 * LONG; /* behind turned values, too */
    int32_t *words = (int32_t *)(void *)(right + LONG);
    uint8_t *one = (uint8_t *)(words + 4 * MOST);
    uint8_t *other = one + RESULTS;
    fill(left, 3 * LONG + 16 * MOST);
    multiply_long(left, right, words, round, one, other);
    const struct heads heads = {.heads = 2, .group = 1 + round % 2, .seq = 1 + below(5), .keys = 90 + below(40), .d = 64};
    attend(heads, left, right, (uint32_t *)words, one, other);
}

/* A product whose operands are at `left`, `right` and `scales`. */
static struct partita_nibble_gemm nibble_product(uint8_t *left, uint8_t *right, uint32_t *scales)
{
    struct partita_nibble_gemm gemm = {.x = left + below(4), .codes = right + 4 * below(2), .scales = scales};
    gemm.rows = 1 + below(3);
    gemm.panels = 1 + below(3);
    gemm.groups = 1 + below(5);
    gemm.group = 8 * (1 + below(3));
    gemm.accumulate = below(2);
    fill_scales(scales, 8 * gemm.panels * gemm.groups);
    return gemm;
}

void compare_nibble_products(uint8_t *left, uint8_t *right, uint32_t *scales, int32_t round, uint8_t *one,
                             uint8_t *other)
{
    fill(left, OPERAND);
    fill(right, OPERAND);
    struct partita_nibble_gemm gemm = nibble_product(left, right, scales);
    const int32_t count = 8 * gemm.rows * gemm.panels;
    fill_scales((uint32_t *)one, count);
    copy_to_both(one, 4 * count, one, other);
    compare(&nibbles[round % 4], &gemm, (void **)&gemm.out, one, other, 4 * count);
}

/*
 * A convolution of bytes or, if `is_wide`, of words, with data at x, weights anywhere among bytes, and words for bias, multipliers
 * and addends. Accelerated and portable kernels both gather windows or not.
 */
static struct partita_convolution convolution(uint8_t *x, uint8_t *weight, const int32_t *bias, int32_t is_wide,
                                              uint32_t *windows)
{
    struct partita_convolution all = {.x = is_wide ? x : x + below(4), .bias = below(2) ? bias : 0, .batch = 1 + below(2)};
    const int32_t is_depthwise = below(3) == 0;
    const int32_t is_single = below(3) == 0;
    struct partita_window *window = &all.window;
    all.weight = is_wide ? weight : weight + below(4);
    all.groups = is_depthwise ? 1 + below(6) : 1 + below(2);
    all.channels = is_depthwise ? 1 : 1 + below(4);
    all.filters = all.groups * (1 + below(is_depthwise ? 3 : 9));
    window->height = 1 + below(7), window->width = 1 + below(10);
    window->kernel_y = is_single ? 1 : 1 + below(3), window->kernel_x = is_single ? 1 : 1 + below(4);
    window->stride_y = 1 + (is_single ? 0 : below(2)), window->stride_x = 1 + (is_single ? 0 : below(3));
    window->dilation_y = 1 + below(2), window->dilation_x = 1 + below(4) / 3;
    window->low_y = below(2), window->low_x = is_single ? 0 : below(3);
    window->high_y = is_single ? window->low_y : below(2), window->high_x = is_single ? 0 : below(3);
    const int32_t reach_y = (window->kernel_y - 1) * window->dilation_y, reach_x = (window->kernel_x - 1) * window->dilation_x;
    const int32_t down = window->height + window->low_y + window->high_y - reach_y;
    const int32_t across = window->width + window->low_x + window->high_x - reach_x;
    window->out_height = down > 0 ? (down - 1) / window->stride_y + 1 : 0;
    window->out_width = across > 0 ? (across - 1) / window->stride_x + 1 : 0;
    all.windows = below(4) == 0 ? 0 : windows;
    all.parts = 1 + below(8);
    return all;
}

void compare_convolutions(int32_t round)
{
    enum { DATA = 6 * 1024, RESULTS = 20 * 1024 };
    uint8_t *x = partita_l1;
    uint8_t *weight = x + DATA;
    int32_t *words = (int32_t *)(void *)(weight + DATA);
    uint32_t *windows = (uint32_t *)words + 3 * MOST;
    uint8_t *one = (uint8_t *)windows + DATA;
    uint8_t *other = one + RESULTS;
    const int32_t number = round % 4;
    fill(x, 2 * DATA + 12 * MOST);
    struct partita_convolution plain = convolution(x, weight, words, number >= 2, windows);
    int32_t results = plain.batch * plain.filters * plain.window.out_height * plain.window.out_width;
    compare(&convolutions[number], &plain, &plain.out, one, other, 4 * results);

    struct partita_convolution_requantize each = {.multiplier = words + MOST, .addend = words + 2 * MOST};
    each.convolution = convolution(x, weight, words, 0, windows);
    each.multiplier_stride = below(2), each.addend_stride = below(2);
    each.shift = below(50), each.low = number % 2 ? 0 : -128, each.high = number % 2 ? 255 : 127;
    for (int32_t i = 0; i < 2 * MOST && below(2); i++) { /* as networks have them */
        words[MOST + i] = i < MOST ? 1 + below(70000) : below(1 << 20);
    }
    results = each.convolution.batch * each.convolution.filters * each.convolution.window.out_height *
              each.convolution.window.out_width;
    compare(&requantized_convolutions[number], &each, &each.convolution.out, one, other, results);

    fill_scales((uint32_t *)(void *)x, (2 * DATA + 12 * MOST) / 4);
    struct partita_convolution floats = convolution(x, weight, words, 1, windows);
    results = floats.batch * floats.filters * floats.window.out_height * floats.window.out_width;
    compare(&convolution_of_floats, &floats, &floats.out, one, other, 4 * results);
}
