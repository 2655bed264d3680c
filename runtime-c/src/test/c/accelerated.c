/*
 * Kernels with XpulpV2 instructions against their portable form (portable_*.c), bit for bit: random extents, layouts, alignments
 * and values, extremes among them. Fails at the first difference. AcceleratedCodeTest finds kernels that are in none of
 * accelerated*.c.
 */
#include "accelerated.h"

#include "../../../collectives/join.h"
#include "../../../kernels/binary.h"
#include "../../../kernels/integer_network.h"
#include "../../../kernels/norm.h"
#include "../../../kernels/quantize.h"
#include "../../../kernels/unary.h"

partita_kernel portable_requantize_i8_i8, portable_requantize_u8_i32, portable_requantize_i32_i8,
    portable_requantize_i32_i32, portable_lookup_i8_i8, portable_lookup_i8_f32, portable_lookup_u8_i8,
    portable_lookup_u8_f32, portable_integer_layer_norm_i8, portable_integer_layer_norm_u8,
    portable_integer_rms_norm_i8, portable_integer_rms_norm_u8, portable_quantize_f32_i8, portable_quantize_f32_u8,
    portable_softmax_weights_i32, portable_weighted_softmax_i8, portable_weighted_softmax_u8,
    portable_rms_norm_quantize_f32_i8, portable_rms_norm_quantize_f32_u8, portable_integer_softmax_i8,
    portable_integer_softmax_u8, portable_layer_norm_f32, portable_rms_norm_f32, portable_norm_squares_f32,
    portable_norm_by_sums_f32, portable_lookup_i8_u8, portable_lookup_u8_u8, portable_quantize_f32_i16,
    portable_quantize_f32_u16, portable_requantize_i8_u8, portable_requantize_i8_i32, portable_requantize_u8_i8,
    portable_requantize_u8_u8, portable_requantize_i32_u8, portable_power_softmax_i8, portable_power_softmax_u8,
    portable_integer_gelu_i8, portable_integer_gelu_u8, portable_relu_f32, portable_add_i32, portable_sub_i32,
    portable_mul_i32, portable_min_i32, portable_max_i32, portable_add_f32, portable_sub_f32, portable_mul_f32,
    portable_join_add_f32, portable_join_add_i32, portable_join_max_i32, portable_join_min_i32, portable_join_add_i8,
    portable_join_max_i8, portable_join_min_i8, portable_join_add_u8, portable_join_max_u8, portable_join_min_u8;

/* Those with 32-bit results come last. */
static const struct pair elements[] = {{partita_requantize_i8_i8, portable_requantize_i8_i8, 0},
                                       {partita_requantize_i8_u8, portable_requantize_i8_u8, 0},
                                       {partita_requantize_u8_i8, portable_requantize_u8_i8, 0},
                                       {partita_requantize_u8_u8, portable_requantize_u8_u8, 0},
                                       {partita_requantize_i32_i8, portable_requantize_i32_i8, 0},
                                       {partita_requantize_i32_u8, portable_requantize_i32_u8, 0},
                                       {partita_requantize_i8_i32, portable_requantize_i8_i32, 0},
                                       {partita_requantize_u8_i32, portable_requantize_u8_i32, 0},
                                       {partita_requantize_i32_i32, portable_requantize_i32_i32, 0}};

/* Those with 32-bit results come last. */
static const struct pair lookups[] = {{partita_lookup_i8_i8, portable_lookup_i8_i8, 0},
                                      {partita_lookup_i8_u8, portable_lookup_i8_u8, 0},
                                      {partita_lookup_u8_i8, portable_lookup_u8_i8, 0},
                                      {partita_lookup_u8_u8, portable_lookup_u8_u8, 0},
                                      {partita_lookup_i8_f32, portable_lookup_i8_f32, 0},
                                      {partita_lookup_u8_f32, portable_lookup_u8_f32, 0}};

static const struct pair gelus[] = {{partita_integer_gelu_i8, portable_integer_gelu_i8, 0},
                                    {partita_integer_gelu_u8, portable_integer_gelu_u8, 0}};

static const struct pair norms[] = {{partita_integer_layer_norm_i8, portable_integer_layer_norm_i8, 0},
                                    {partita_integer_layer_norm_u8, portable_integer_layer_norm_u8, 0},
                                    {partita_integer_rms_norm_i8, portable_integer_rms_norm_i8, 0},
                                    {partita_integer_rms_norm_u8, portable_integer_rms_norm_u8, 0}};

/* Those with 16-bit results come last. */
static const struct pair quantized[] = {{partita_quantize_f32_i8, portable_quantize_f32_i8, 0},
                                        {partita_quantize_f32_u8, portable_quantize_f32_u8, 0},
                                        {partita_quantize_f32_i16, portable_quantize_f32_i16, 0},
                                        {partita_quantize_f32_u16, portable_quantize_f32_u16, 0}};

static const struct pair row_norms[] = {{partita_layer_norm_f32, portable_layer_norm_f32, 0},
                                        {partita_rms_norm_f32, portable_rms_norm_f32, 0}};
static const struct pair squares = {partita_norm_squares_f32, portable_norm_squares_f32, 0};
static const struct pair by_sums = {partita_norm_by_sums_f32, portable_norm_by_sums_f32, 0};
static const struct pair quantized_norms[] = {{partita_rms_norm_quantize_f32_i8, portable_rms_norm_quantize_f32_i8, 0},
                                              {partita_rms_norm_quantize_f32_u8, portable_rms_norm_quantize_f32_u8, 0}};

static const struct pair integer_softmaxes[] = {{partita_integer_softmax_i8, portable_integer_softmax_i8, 0},
                                                {partita_integer_softmax_u8, portable_integer_softmax_u8, 0}};
static const struct pair parabolas = {partita_softmax_weights_i32, portable_softmax_weights_i32, 0};
static const struct pair softmaxes[] = {{partita_weighted_softmax_i8, portable_weighted_softmax_i8, 0},
                                        {partita_weighted_softmax_u8, portable_weighted_softmax_u8, 0}};

static const struct pair power_softmaxes[] = {{partita_power_softmax_i8, portable_power_softmax_i8, 0},
                                              {partita_power_softmax_u8, portable_power_softmax_u8, 0}};

static const struct pair rectifier = {partita_relu_f32, portable_relu_f32, 0};
static const struct pair words_of_two[] = {
    {partita_add_i32, portable_add_i32, 0}, {partita_sub_i32, portable_sub_i32, 0}, {partita_mul_i32, portable_mul_i32, 0},
    {partita_min_i32, portable_min_i32, 0}, {partita_max_i32, portable_max_i32, 0}, {partita_add_f32, portable_add_f32, 0},
    {partita_sub_f32, portable_sub_f32, 0}, {partita_mul_f32, portable_mul_f32, 0}};

/* Those of bytes come last. */
static const struct pair joins[] = {
    {partita_join_add_f32, portable_join_add_f32, 0}, {partita_join_add_i32, portable_join_add_i32, 0},
    {partita_join_max_i32, portable_join_max_i32, 0}, {partita_join_min_i32, portable_join_min_i32, 0},
    {partita_join_add_i8, portable_join_add_i8, 0},   {partita_join_max_i8, portable_join_max_i8, 0},
    {partita_join_min_i8, portable_join_min_i8, 0},   {partita_join_add_u8, portable_join_add_u8, 0},
    {partita_join_max_u8, portable_join_max_u8, 0},   {partita_join_min_u8, portable_join_min_u8, 0}};

static uint32_t state = 20261123;

uint32_t next(void)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

int32_t below(int32_t end)
{
    return (int32_t)(next() % (uint32_t)end);
}

void fill(uint8_t *bytes, int32_t count)
{
    const uint8_t extremes[] = {0, 127, 128, 255};
    const int32_t is_extreme = below(4) == 0;
    for (int32_t i = 0; i < count; i++) {
        bytes[i] = is_extreme ? extremes[next() & 3] : (uint8_t)next();
    }
}

static void verify(const uint8_t *one, const uint8_t *other, int32_t bytes)
{
    for (int32_t i = 0; i < bytes; i++) {
        if (one[i] != other[i]) {
            partita_fail("accelerated and portable kernels differ");
        }
    }
}

void compare(const struct pair *pair, void *arguments, void **out, uint8_t *one, uint8_t *other, int32_t bytes)
{
    *out = one;
    partita_team_run(pair->accelerated, arguments);
    *out = other;
    partita_team_run(pair->portable, arguments);
    verify(one, other, bytes);
}

/* Of kernels that write to the tile that they read; both tiles have the same contents. */
static void compare_in_place(const struct pair *pair, void *arguments, const void **x, void **out, uint8_t *one,
                             uint8_t *other, int32_t bytes)
{
    *x = *out = one;
    partita_team_run(pair->accelerated, arguments);
    *x = *out = other;
    partita_team_run(pair->portable, arguments);
    verify(one, other, bytes);
}

void copy_to_both(const uint8_t *from, int32_t bytes, uint8_t *one, uint8_t *other)
{
    for (int32_t i = 0; i < bytes; i++) {
        one[i] = other[i] = from[i];
    }
}

/* Words of one tile and of two, also in place, and joins of up to three messages: of any bits, NaN among them. */
static void combine(uint8_t *left, uint8_t *right, int32_t round, uint8_t *one, uint8_t *other)
{
    const int32_t lines = 1 + below(3);
    const int32_t columns = 1 + below(2 * MOST);
    struct partita_binary binary = {.left = left, .right = right, .extents = {1, 1, 1, 1, lines, columns}};
    binary.left_strides[PARTITA_AXES - 2] = columns, binary.left_strides[PARTITA_AXES - 1] = below(4) > 0;
    binary.right_strides[PARTITA_AXES - 2] = below(3), binary.right_strides[PARTITA_AXES - 1] = below(3);
    compare(&words_of_two[round % 8], &binary, &binary.out, one, other, 4 * lines * columns);
    const struct pair *joined = &joins[round % 10];
    struct partita_join join = {.received = right, .count = below(4), .elements = below(2 * MOST)};
    if (round & 1) {
        struct partita_unary unary = {.x = left, .count = below(4 * MOST)};
        compare(&rectifier, &unary, &unary.out, one, other, 4 * unary.count);
    }
    copy_to_both(left, OPERAND, one, other);
    compare(joined, &join, &join.own, one, other, join.elements * (round % 10 < 4 ? 4 : 1));
    copy_to_both(left, OPERAND, one, other);
    struct partita_unary in_place = {.count = below(4 * MOST)};
    compare_in_place(&rectifier, &in_place, &in_place.x, &in_place.out, one, other, 4 * in_place.count);
    copy_to_both(left, OPERAND, one, other);
    binary.left_strides[PARTITA_AXES - 1] = 1;
    compare_in_place(&words_of_two[round % 8], &binary, &binary.left, &binary.out, one, other, 4 * lines * columns);
}

/* Quantizes levels and halves of levels, and any floats. */
static void quantize(uint32_t *left, int32_t round, uint8_t *one, uint8_t *other)
{
    union {
        float value;
        uint32_t bits;
    } x;
    const float scale = (float)(1 + below(1 << 20)) * 0x1p-24f;
    const uint16_t zero = (uint16_t)next();
    const int32_t count = below(8 * MOST);
    for (int32_t i = 0; i < count; i++) {
        x.value = (float)(below(1400) - 700) * 0.5f * scale;
        x.bits += (uint32_t)below(3) - 1;
        left[i] = below(40) == 0 ? next() : x.bits;
    }
    struct partita_quantize quantize = {
        .x = left, .scale = &scale, .zero = &zero, .extents = {1, 1, 1, 1, 1, count}};
    const int32_t bytes = round % 4 < 2 ? 1 : 2;
    compare(&quantized[round % 4], &quantize, &quantize.out, one + bytes * below(4), other + bytes * below(4), bytes * count);
}

void fill_scales(uint32_t *bits, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        const uint32_t lower = 0x3780u + (next() & 0xfffu);
        const uint32_t upper = 0x3780u + (next() & 0xfffu);
        bits[i] = upper << 16 | lower | (next() & 0x80008000u);
    }
}

/* Elements with a scale for all, for each line, for each column or for each element of some lines, of any size. */
static __attribute__((noinline)) void requantize_elements(uint8_t *x, int32_t *words, int32_t round, uint8_t *one,
                                                          uint8_t *other)
{
    const int32_t number = round % 9;
    const int32_t lows[] = {-128, -1 - below(1 << 20), INT32_MIN, 0};
    const int32_t highs[] = {127, 1 + below(1 << 20), INT32_MAX, 100 + below(100)};
    struct partita_requantize each = {.x = number < 4 || number == 6 || number == 7 ? x + below(4) : x,
                                      .multiplier = words,
                                      .addend = words + MOST,
                                      .extents = {1, 1, 1, 1, 1 + below(8), 1 + below(MOST)},
                                      .low = lows[below(4)],
                                      .high = highs[below(4)],
                                      .shift = below(2) ? below(63) : 25 + below(10)};
    if (below(8) == 0) {
        each.low = INT64_MIN;
    }
    each.multiplier_strides[PARTITA_AXES - 1] = below(2), each.addend_strides[PARTITA_AXES - 1] = below(2);
    each.multiplier_strides[PARTITA_AXES - 2] = below(4) == 0, each.addend_strides[PARTITA_AXES - 2] = below(4) == 0;
    if (below(3)) { /* of any number of bits, so that results are in all places */
        const int32_t multiplier_bits = below(32), addend_bits = below(32), bits = below(32);
        for (int32_t i = 0; i < 3 * MOST; i++) {
            words[i] = (int32_t)next() >> (i < MOST ? multiplier_bits : addend_bits);
        }
        for (int32_t i = 0; i < 8 * MOST && number >= 4 && number != 6 && number != 7; i++) {
            ((int32_t *)(void *)x)[i] = (int32_t)next() >> bits;
        }
    }
    compare(&elements[number], &each, &each.out, one, other,
            each.extents[PARTITA_AXES - 2] * each.extents[PARTITA_AXES - 1] * (number < 6 ? 1 : 4));
}

/* Rows with weights and biases of any value, or of those that 32 bits are enough for; some have elements that are almost the same. */
static __attribute__((noinline)) void norm_of_integers(uint8_t *x, int32_t *words, int32_t round, uint8_t *one,
                                                       uint8_t *other)
{
    struct partita_integer_norm norm = {.x = x + below(4), .weight = words, .bias = below(4) ? words + MOST : 0};
    norm.rows = 1 + below(10), norm.size = 1 + below(MOST), norm.weight_stride = below(4) > 0;
    norm.bias_stride = below(4) > 0;
    norm.low = below(2) ? -128 : below(100) - 50, norm.high = below(2) ? 127 : norm.low + below(70);
    norm.shift = below(4) ? below(32) : 32 + below(31);
    if (below(4)) {
        const int32_t weight_bits = 9 + below(23), bias_bits = 1 + below(31);
        for (int32_t i = 0; i < MOST; i++) {
            words[i] = (int32_t)next() >> weight_bits;
            words[MOST + i] = (int32_t)next() >> bias_bits;
        }
    }
    if (below(4) == 0) {
        const uint8_t value = (uint8_t)next(), spread = (uint8_t)(1 << below(3));
        for (int32_t i = 0; i < norm.rows * norm.size + 4; i++) {
            x[i] = (uint8_t)(value + next() % spread);
        }
    }
    compare(&norms[round % 4], &norm, &norm.out, one, other, norm.rows * norm.size);
}

/* The weights of an integer softmax, and softmaxes with such weights, or those whose sums are small or 0. */
static __attribute__((noinline)) void soften(uint8_t *x, uint32_t *factors, int32_t round, uint8_t *one,
                                             uint8_t *other)
{
    struct partita_softmax_weights table = {
        .a = below(100), .b = below(8000) - 4000, .c = below(1 << 28), .log2 = 1 + below(60)};
    compare(&parabolas, &table, (void **)&table.out, one, other, 4 * 256);

    const uint32_t most = below(4) == 0 ? 0 : (uint32_t)1 << below(22);
    for (int32_t i = 0; i < 256; i++) {
        factors[i] = most == 0 ? i == 0 && below(2) : next() % most;
    }
    struct partita_integer_softmax whole = {.x = x + below(4),
                                            .rows = 1 + below(10),
                                            .size = 1 + below(MOST),
                                            .a = 1 + below(100),
                                            .b = below(400) - 200,
                                            .c = below(1 << 14),
                                            .log2 = 1 + below(60),
                                            .levels = 2 + below(255)};
    whole.is_small = below(2);
    compare(&integer_softmaxes[round % 2], &whole, &whole.out, one, other, whole.rows * whole.size);

    struct partita_weighted_softmax softmax = {.x = x + below(4), .weights = factors, .levels = 2 + below(255)};
    softmax.rows = 1 + below(10), softmax.size = 1 + below(MOST);
    compare(&softmaxes[round % 2], &softmax, &softmax.out, one, other, softmax.rows * softmax.size);

    struct partita_power_softmax powers = {.x = x + below(4), .group = below(2) ? 0 : 1 + below(MOST), .levels = 256, .unit = 5};
    powers.rows = 1 + below(10), powers.size = 1 + below(MOST);
    if (below(2)) {
        powers.levels = (int64_t)2 << below(31), powers.unit = below(20);
    }
    compare(&power_softmaxes[round % 2], &powers, &powers.out, one, other, powers.rows * powers.size);
}

/* Rows of floats, alone and by parts of their sums; sums are divided in another way if the size is a power of two. */
static __attribute__((noinline)) void normalize(uint32_t *bits, uint32_t *scales, int32_t round, uint8_t *one,
                                                uint8_t *other)
{
    const int32_t size = below(2) ? 8 << below(4) : 1 + below(3 * MOST);
    struct partita_norm norm = {.x = (const float *)bits, .rows = 1 + below(10), .size = size, .epsilon = 0x1p-20f};
    const int32_t count = norm.rows * size;
    fill_scales(bits, count);
    fill_scales(scales, 2 * size);
    norm.scale = below(2) ? (const float *)scales : 0;
    norm.bias = below(2) ? (const float *)scales + size : 0;
    compare(&row_norms[round % 2], &norm, (void **)&norm.out, one, other, 4 * count);

    float *parts = (float *)(bits + count);
    float *of_squares = parts + norm.rows * PARTITA_NORM_PARTS;
    struct partita_norm_sums sum = {.x = norm.x, .out = parts, .rows = norm.rows, .size = size};
    partita_team_run(partita_norm_sums_f32, &sum);
    sum.elements = round % 2 ? 0 : parts;
    compare(&squares, &sum, (void **)&sum.out, (uint8_t *)of_squares, other, 4 * norm.rows * PARTITA_NORM_PARTS);
    struct partita_norm_by_sums by = {.x = norm.x, .elements = sum.elements, .squares = of_squares};
    by.scale = norm.scale, by.bias = norm.bias, by.rows = norm.rows, by.size = size, by.epsilon = norm.epsilon;
    compare(&by_sums, &by, (void **)&by.out, one, other, 4 * count);

    /* Steps with which few levels are saturated. */
    const float step = 0x1p-8f * (float)(1 + below(1 << 10));
    const uint8_t zero = (uint8_t)next();
    struct partita_norm_quantize levels = {.x = norm.x, .squares = of_squares, .scale = (const float *)scales};
    levels.step = &step, levels.zero = &zero, levels.rows = norm.rows, levels.size = size, levels.epsilon = norm.epsilon;
    if (by.elements == 0) {
        compare(&quantized_norms[below(2)], &levels, &levels.out, one, other, count);
    }
}

int32_t partita_main(void)
{
    uint8_t *left = partita_l1;
    uint8_t *right = left + OPERAND;
    int32_t *words = (int32_t *)(right + OPERAND);
    uint8_t *one = (uint8_t *)(words + 3 * COLUMNS);
    uint8_t *other = one + 4 * MOST * MOST;
    for (int32_t round = 0; round < ROUNDS; round++) {
        fill(left, OPERAND);
        fill(right, OPERAND);
        combine(left, right, round, one, other);
        compare_products(left, right, words, round, one, other);
        compare_attention(left, right, (uint32_t *)words, one, other);
        quantize((uint32_t *)left, round, one, other);

        for (int32_t i = 0; i < 8; i++) {
            requantize_elements(left, words, 8 * round + i, one, other);
        }

        struct partita_lookup lookup = {.x = left + below(4), .table = right, .count = below(8 * MOST)};
        compare(&lookups[round % 6], &lookup, &lookup.out, one, other, lookup.count * (round % 6 < 4 ? 1 : 4));

        struct partita_integer_gelu gelu = {.x = left + below(4), .b = -below(300), .one = below(1 << 20)};
        gelu.count = below(8 * MOST);
        if (below(4) == 0) {
            gelu.b = (int64_t)((uint64_t)next() << 32 | next()) >> below(64);
            gelu.one = (int64_t)((uint64_t)next() << 32 | next()) >> below(64);
        }
        compare(&gelus[round % 2], &gelu, &gelu.out, one, other, gelu.count);

        norm_of_integers(left, words, round, one, other);
        soften(left, (uint32_t *)right, round, one, other);
    }
    for (int32_t round = 0; round < ROUNDS; round++) {
        normalize((uint32_t *)(other + 4 * MOST * MOST), (uint32_t *)words, round, one, other);
    }
    for (int32_t round = 0; round < ROUNDS; round++) {
        compare_nibble_products(left, right, (uint32_t *)words, round, one, other);
    }
    for (int32_t round = 0; round < ROUNDS; round++) {
        compare_convolutions(round);
    }
    for (int32_t round = 0; round < LONG_ROUNDS; round++) {
        compare_long_products(round);
    }
    return 0;
}
