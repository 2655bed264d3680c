#include "integer_network.h"

#include "reciprocal.h"

/* Bytes of a line up to this long, less their mean, have squares whose sum fits 32 bits. */
enum { SHORT_LINE = 1 << 15 };

/* The floor of the root, one binary digit at a time. The first digit is the highest power of four of the type. */
#define SQUARE_ROOT(NAME, T)                                                                                           \
    static T NAME(T rest, T digit)                                                                                     \
    {                                                                                                                  \
        T root = 0;                                                                                                    \
        while (digit > rest) {                                                                                         \
            digit >>= 2;                                                                                               \
        }                                                                                                              \
        while (digit != 0) {                                                                                           \
            const T more = root + digit;                                                                               \
            root >>= 1;                                                                                                \
            if (rest >= more) {                                                                                        \
                rest -= more;                                                                                          \
                root += digit;                                                                                         \
            }                                                                                                          \
            digit >>= 2;                                                                                               \
        }                                                                                                              \
        return root;                                                                                                   \
    }

SQUARE_ROOT(square_root_32, uint32_t)
SQUARE_ROOT(square_root_64, uint64_t)

/* 0 for an overflowed argument. */
static int64_t square_root(int64_t square)
{
    if (square <= 0) {
        return 0;
    }
    return square == (int32_t)square ? square_root_32((uint32_t)square, (uint32_t)1 << 30)
                                     : (int64_t)square_root_64((uint64_t)square, (uint64_t)1 << 62);
}

static __attribute__((noinline)) int64_t normalised(const struct partita_integer_norm *norm, int64_t value, int64_t root,
                                                    int32_t i)
{
    const int64_t weighted = partita_multiply_wrapping_64(value, norm->weight[i * norm->weight_stride]);
    const int64_t bias = norm->bias == 0 ? 0 : norm->bias[i * norm->bias_stride];
    const int64_t shifted = partita_add_wrapping_64(partita_divide_wrapping_64(weighted, root), bias) >> norm->shift;
    return partita_clamp(shifted, norm->low, norm->high);
}

/* The product of a byte less a mean of bytes, below 2^8, with a weight below 2^22 is below 2^30, and so is such a bias. */
enum { WEIGHT_BITS = 22, BIAS_BITS = 30 };

/* A part of a row's weights and biases, which may be the same for all elements; a stride of 0 if there is no bias. */
struct parameters {
    const int32_t *weight;
    const int32_t *bias;
    int32_t weight_stride;
    int32_t bias_stride;
};

/* What all elements of a short row share. */
struct short_norm {
    int32_t mean;
    int32_t root; /* from 1 to 2^8 */
    int32_t shift;
    int32_t low;
    int32_t high;
};

/*
 * SUMS: adds `words` words of four bytes, at least one, and their squares.
 * DIVIDED: normalises `count` bytes by a division for each.
 * NORMALISED: the same by a multiplication, for a root above 1.
 */
#define DIVIDED(NAME, T)                                                                                               \
    static PARTITA_COMPACT void NAME(struct short_norm to, struct parameters parameters, const T *x, T *out,           \
                                     int32_t count)                                                                    \
    {                                                                                                                  \
        for (int32_t i = 0; i < count; i++) {                                                                          \
            const int32_t weighted = (x[i] - to.mean) * *parameters.weight;                                            \
            const int32_t scaled = to.root == 1 ? weighted : weighted / to.root;                                       \
            out[i] = (T)partita_min(partita_max((scaled + *parameters.bias) >> to.shift, to.low), to.high);            \
            parameters.weight += parameters.weight_stride;                                                             \
            parameters.bias += parameters.bias_stride;                                                                 \
        }                                                                                                              \
    }

DIVIDED(divided_i8, int8_t)
DIVIDED(divided_u8, uint8_t)

#ifdef PARTITA_XPULP

#define SUMS(NAME, DOT)                                                                                                \
    static inline void NAME(const uint8_t *at, int32_t words, uint32_t *sum, uint32_t *squares)                        \
    {                                                                                                                  \
        uint32_t four;                                                                                                 \
        __asm__ volatile(".p2align 2\n"                                                                                \
                         ".option push\n"                                                                              \
                         ".option norvc\n"                                                                             \
                         "lp.setup 0, %[words], 3\n"                                                                   \
                         "p.lw %[four], %[at], %[word]\n" DOT " %[sum], %[four], %[ones]\n" DOT                        \
                         " %[squares], %[four], %[four]\n"                                                             \
                         "lp.end 0\n"                                                                                  \
                         ".option pop\n"                                                                               \
                         : [four] "=&r"(four), [at] "+r"(at), [sum] "+r"(*sum), [squares] "+r"(*squares)               \
                         : [word] "r"(4), [words] "r"(words), [ones] "r"(0x01010101)                                   \
                         : "memory");                                                                                  \
    }

SUMS(sums_i8, "pv.sdotsp.b")
SUMS(sums_u8, "pv.sdotup.b")

/* The upper half of a product with a factor above 2^k / root is the quotient rounded down, so less by 1 if it is negative. */
#define NORMALISED(NAME, T, LOAD)                                                                                      \
    static inline void NAME(struct short_norm to, struct parameters parameters, const T *x, T *out, int32_t count)     \
    {                                                                                                                  \
        const int32_t bits = partita_highest_bit((uint32_t)to.root);                                                   \
        const uint32_t factor = partita_reciprocal((uint32_t)to.root, bits);                                           \
        int32_t value, weight, bias;                                                                                   \
        __asm__ volatile(".p2align 2\n"                                                                                \
                         ".option push\n"                                                                              \
                         ".option norvc\n"                                                                             \
                         "lp.setup 0, %[count], 14\n" LOAD " %[value], %[x], %[byte]\n"                                \
                         "p.lw %[weight], %[weights], %[weight_step]\n"                                                \
                         "p.lw %[bias], %[biases], %[bias_step]\n"                                                     \
                         "sub %[value], %[value], %[mean]\n"                                                           \
                         "mul %[value], %[value], %[weight]\n"                                                         \
                         "srli %[weight], %[value], 31\n"                                                              \
                         "mulhsu %[value], %[value], %[factor]\n"                                                      \
                         "add %[bias], %[bias], %[weight]\n"                                                           \
                         "sra %[value], %[value], %[down]\n"                                                           \
                         "add %[value], %[value], %[bias]\n"                                                           \
                         "sra %[value], %[value], %[shift]\n"                                                          \
                         "p.max %[value], %[value], %[low]\n"                                                          \
                         "p.min %[value], %[value], %[high]\n"                                                         \
                         "p.sb %[value], %[out], %[byte]\n"                                                            \
                         "lp.end 0\n"                                                                                  \
                         ".option pop\n"                                                                               \
                         : [value] "=&r"(value), [weight] "=&r"(weight), [bias] "=&r"(bias), [x] "+r"(x),              \
                           [weights] "+r"(parameters.weight), [biases] "+r"(parameters.bias), [out] "+r"(out)          \
                         : [count] "r"(count), [byte] "r"(1), [weight_step] "r"(4 * parameters.weight_stride),         \
                           [bias_step] "r"(4 * parameters.bias_stride), [mean] "r"(to.mean), [factor] "r"(factor),     \
                           [down] "r"(bits - 1), [shift] "r"(to.shift), [low] "r"(to.low), [high] "r"(to.high)         \
                         : "memory");                                                                                  \
    }

NORMALISED(normalised_i8, int8_t, "p.lb")
NORMALISED(normalised_u8, uint8_t, "p.lbu")

#else

#define SUMS(NAME, DOT)                                                                                                \
    static inline void NAME(const uint8_t *at, int32_t words, uint32_t *sum, uint32_t *squares)                        \
    {                                                                                                                  \
        for (int32_t i = 0; i < words; i++) {                                                                          \
            const uint32_t four = partita_next_word(&at, 4);                                                           \
            *sum = DOT(*sum, four, 0x01010101u);                                                                       \
            *squares = DOT(*squares, four, four);                                                                      \
        }                                                                                                              \
    }

SUMS(sums_i8, partita_sdotsp_b)
SUMS(sums_u8, partita_sdotup_b)

#define normalised_i8 divided_i8
#define normalised_u8 divided_u8

#endif

/* The weights and biases of a part; `none` is 0. */
static inline struct parameters parameters_of(const struct partita_integer_norm *norm, struct partita_range part,
                                              const int32_t *none)
{
    const struct parameters parameters = {
        .weight = norm->weight + part.from * norm->weight_stride,
        .bias = norm->bias == 0 ? none : norm->bias + part.from * norm->bias_stride,
        .weight_stride = norm->weight_stride,
        .bias_stride = norm->bias == 0 ? 0 : norm->bias_stride,
    };
    return parameters;
}

/* Whether 32 bits are enough for a part of rows of bytes, which isn't empty. */
static PARTITA_COMPACT int32_t is_short(const struct partita_integer_norm *norm, struct partita_range part)
{
    const int32_t none = 0;
    const struct parameters parameters = parameters_of(norm, part, &none);
    const int32_t count = part.to - part.from;
    return norm->size <= SHORT_LINE && norm->shift < 32 && norm->low == (int32_t)norm->low &&
           norm->high == (int32_t)norm->high &&
           partita_magnitudes(parameters.weight, parameters.weight_stride, parameters.weight_stride == 0 ? 1 : count) >>
                   WEIGHT_BITS ==
               0 &&
           partita_magnitudes(parameters.bias, parameters.bias_stride, parameters.bias_stride == 0 ? 1 : count) >> BIAS_BITS == 0;
}

/* A part of a short row of bytes. The sum of (x - mean)^2 is that of x^2 less mean (2 sum - size mean). */
#define SHORT_NORM(TYPE, T)                                                                                            \
    static PARTITA_COMPACT void short_##TYPE(const struct partita_integer_norm *norm, int32_t row,                     \
                                             struct partita_range part, int32_t centre)                                \
    {                                                                                                                  \
        const int32_t none = 0;                                                                                        \
        const struct parameters parameters = parameters_of(norm, part, &none);                                         \
        const T *x = (const T *)norm->x + row * norm->size;                                                            \
        T *out = (T *)norm->out + row * norm->size;                                                                    \
        const int32_t words = norm->size / 4;                                                                          \
        uint32_t sum = 0;                                                                                              \
        uint32_t squares = 0;                                                                                          \
        if (words > 0) {                                                                                               \
            sums_##TYPE((const uint8_t *)x, words, &sum, &squares);                                                    \
        }                                                                                                              \
        for (int32_t i = 4 * words; i < norm->size; i++) {                                                             \
            sum += (uint32_t)x[i];                                                                                     \
            squares += (uint32_t)(x[i] * x[i]);                                                                        \
        }                                                                                                              \
        struct short_norm to = {.shift = norm->shift, .low = (int32_t)norm->low, .high = (int32_t)norm->high};         \
        to.mean = centre ? (int32_t)sum / norm->size : 0;                                                              \
        squares -= (uint32_t)to.mean * (2 * sum - (uint32_t)norm->size * (uint32_t)to.mean);                           \
        to.root = (int32_t)square_root_32(squares / (uint32_t)norm->size + 1, (uint32_t)1 << 16);                      \
        if (to.root == 1) {                                                                                            \
            divided_##TYPE(to, parameters, x + part.from, out + part.from, part.to - part.from);                       \
        } else {                                                                                                       \
            normalised_##TYPE(to, parameters, x + part.from, out + part.from, part.to - part.from);                    \
        }                                                                                                              \
    }

SHORT_NORM(i8, int8_t)
SHORT_NORM(u8, uint8_t)

/* A part of any row, in 64 bits. */
#define WIDE_NORM(TYPE, T)                                                                                             \
    static __attribute__((noinline)) void wide_##TYPE(const struct partita_integer_norm *norm, int32_t row,            \
                                                      struct partita_range part, int32_t centre)                       \
    {                                                                                                                  \
        const T *x = (const T *)norm->x + row * norm->size;                                                            \
        T *out = (T *)norm->out + row * norm->size;                                                                    \
        int64_t mean = 0;                                                                                              \
        int64_t squares = 0;                                                                                           \
        for (int32_t i = 0; i < norm->size && centre; i++) {                                                           \
            mean += x[i];                                                                                              \
        }                                                                                                              \
        mean = partita_divide_wrapping_64(mean, norm->size);                                                           \
        for (int32_t i = 0; i < norm->size; i++) {                                                                     \
            const int64_t value = x[i] - mean;                                                                         \
            squares = partita_add_wrapping_64(squares, partita_multiply_wrapping_64(value, value));                    \
        }                                                                                                              \
        const int64_t variance = partita_divide_wrapping_64(squares, norm->size);                                      \
        const int64_t found = square_root(partita_add_wrapping_64(variance, 1));                                       \
        const int64_t root = found > 1 ? found : 1;                                                                    \
        for (int32_t i = part.from; i < part.to; i++) {                                                                \
            out[i] = (T)normalised(norm, x[i] - mean, root, i);                                                        \
        }                                                                                                              \
    }

WIDE_NORM(i8, int8_t)
WIDE_NORM(u8, uint8_t)
WIDE_NORM(i32, int32_t)

#define INTEGER_NORM(TYPE, IS_SHORT, SHORT)                                                                            \
    static PARTITA_COMPACT void rows_##TYPE(const struct partita_integer_norm *norm, int32_t core, int32_t cores,      \
                                            int32_t centre)                                                            \
    {                                                                                                                  \
        const int32_t few = norm->rows < cores;                                                                        \
        const struct partita_range all = {0, few ? norm->rows : norm->size};                                           \
        const struct partita_range share = partita_share(few ? norm->size : norm->rows, 1, core, cores);               \
        const struct partita_range rows = few ? all : share;                                                           \
        const struct partita_range part = few ? share : all;                                                           \
        if (rows.from == rows.to || part.from == part.to) {                                                            \
            return;                                                                                                    \
        }                                                                                                              \
        const int32_t are_short = IS_SHORT;                                                                            \
        for (int32_t row = rows.from; row < rows.to; row++) {                                                          \
            if (are_short) {                                                                                           \
                SHORT(norm, row, part, centre);                                                                        \
            } else {                                                                                                   \
                wide_##TYPE(norm, row, part, centre);                                                                  \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    void partita_integer_layer_norm_##TYPE(const void *arguments, int32_t core, int32_t cores)                         \
    {                                                                                                                  \
        rows_##TYPE(arguments, core, cores, 1);                                                                        \
    }                                                                                                                  \
                                                                                                                       \
    void partita_integer_rms_norm_##TYPE(const void *arguments, int32_t core, int32_t cores)                           \
    {                                                                                                                  \
        rows_##TYPE(arguments, core, cores, 0);                                                                        \
    }

INTEGER_NORM(i8, is_short(norm, part), short_i8)
INTEGER_NORM(u8, is_short(norm, part), short_u8)
INTEGER_NORM(i32, 0, wide_i32)
