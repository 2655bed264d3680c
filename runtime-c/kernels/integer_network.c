#include "integer_network.h"

#include "lines.h"
#include "requantized.h"

/* A 32-bit division takes a tenth of the time of a 64-bit one on a 32-bit core. */
static inline int64_t divide(int64_t x, int64_t y)
{
    if (x == (int32_t)x && y == (int32_t)y && y > 0) {
        return (int32_t)x / (int32_t)y;
    }
    return y == -1 ? partita_multiply_wrapping_64(x, -1) : x / y;
}

static inline int64_t shift_right(int64_t value, int64_t distance)
{
    return value >> (distance < 63 ? distance : 63);
}

#define REQUANTIZE(NAME, IN, OUT)                                                                                      \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_requantize *requantize = arguments;                                                       \
        const struct partita_requantized to =                                                                          \
            partita_requantized(requantize->shift, requantize->low, requantize->high);                                 \
        const struct partita_range share = partita_share(partita_elements(requantize->extents), 8, core, cores);       \
        const int32_t multiplier_step = requantize->multiplier_strides[PARTITA_AXES - 1];                              \
        const int32_t addend_step = requantize->addend_strides[PARTITA_AXES - 1];                                      \
        struct partita_lines lines = partita_lines(requantize->extents, share, 2, requantize->multiplier_strides,      \
                                                   requantize->addend_strides, 0);                                     \
        while (partita_next_line(&lines)) {                                                                            \
            const int32_t *multiplier = requantize->multiplier + lines.offset[0] + lines.first * multiplier_step;      \
            const int32_t *addend = requantize->addend + lines.offset[1] + lines.first * addend_step;                  \
            const IN *x = (const IN *)requantize->x + lines.position;                                                  \
            OUT *out = (OUT *)requantize->out + lines.position;                                                        \
            const int32_t length = lines.length;                                                                       \
            for (int32_t i = 0; i < length; i++) {                                                                     \
                out[i] = (OUT)partita_requantize(to, x[i], *multiplier, *addend);                                      \
                multiplier += multiplier_step;                                                                         \
                addend += addend_step;                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
    }

REQUANTIZE(partita_requantize_i8_i8, int8_t, int8_t)
REQUANTIZE(partita_requantize_i8_u8, int8_t, uint8_t)
REQUANTIZE(partita_requantize_i8_i32, int8_t, int32_t)
REQUANTIZE(partita_requantize_u8_i8, uint8_t, int8_t)
REQUANTIZE(partita_requantize_u8_u8, uint8_t, uint8_t)
REQUANTIZE(partita_requantize_u8_i32, uint8_t, int32_t)
REQUANTIZE(partita_requantize_i32_i8, int32_t, int8_t)
REQUANTIZE(partita_requantize_i32_u8, int32_t, uint8_t)
REQUANTIZE(partita_requantize_i32_i32, int32_t, int32_t)

/* (a (p + b)^2 + c) >> z, for t = x - max. */
static inline int64_t parabola(const struct partita_integer_softmax *softmax, int64_t t)
{
    const int64_t z = divide(-t, softmax->log2);
    const int64_t shifted = partita_add_wrapping_64(t + z * softmax->log2, softmax->b);
    const int64_t square = partita_multiply_wrapping_64(partita_multiply_wrapping_64(softmax->a, shifted), shifted);
    return shift_right(partita_add_wrapping_64(square, softmax->c), z);
}

#define INTEGER_SOFTMAX(NAME, T)                                                                                       \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_integer_softmax *softmax = arguments;                                                     \
        const struct partita_range share = partita_share(softmax->rows, 1, core, cores);                               \
        const int64_t top = softmax->levels - 1;                                                                       \
        for (int32_t row = share.from; row < share.to; row++) {                                                        \
            const T *x = (const T *)softmax->x + row * softmax->size;                                                  \
            T *out = (T *)softmax->out + row * softmax->size;                                                          \
            int64_t largest = softmax->size > 0 ? x[0] : 0;                                                            \
            int64_t sum = 0;                                                                                           \
            for (int32_t i = 1; i < softmax->size; i++) {                                                              \
                largest = x[i] > largest ? x[i] : largest;                                                             \
            }                                                                                                          \
            for (int32_t i = 0; i < softmax->size; i++) {                                                              \
                sum = partita_add_wrapping_64(sum, parabola(softmax, x[i] - largest));                                 \
            }                                                                                                          \
            for (int32_t i = 0; i < softmax->size; i++) {                                                              \
                const int64_t scaled = partita_multiply_wrapping_64(parabola(softmax, x[i] - largest), top);           \
                /* A negative quotient becomes 0, whatever its rounding. */                                              \
                out[i] = (T)partita_clamp(sum == 0 ? 0 : divide(scaled, sum), 0, top);                                 \
            }                                                                                                          \
        }                                                                                                              \
    }

INTEGER_SOFTMAX(partita_integer_softmax_i8, int8_t)
INTEGER_SOFTMAX(partita_integer_softmax_u8, uint8_t)
INTEGER_SOFTMAX(partita_integer_softmax_i32, int32_t)

/* The number of halvings for a distance to the maximum, rounded half up. */
static inline int64_t halvings(const struct partita_power_softmax *softmax, int64_t distance)
{
    return (distance + ((int64_t)1 << softmax->unit) / 2) >> softmax->unit;
}

#define POWER_SOFTMAX(NAME, T)                                                                                         \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_power_softmax *softmax = arguments;                                                       \
        const struct partita_range share = partita_share(softmax->rows, 1, core, cores);                               \
        const int32_t size = softmax->size;                                                                            \
        const int32_t group = softmax->group > 0 && softmax->group < size ? softmax->group : size;                     \
        const int64_t top = softmax->group > 0 ? softmax->levels / 2 - 1 : softmax->levels - 1;                        \
        for (int32_t row = share.from; row < share.to; row++) {                                                        \
            const T *x = (const T *)softmax->x + row * size;                                                           \
            T *out = (T *)softmax->out + row * size;                                                                   \
            int64_t largest = size > 0 ? x[0] : 0;                                                                     \
            int64_t sum = 0;                                                                                           \
            for (int32_t from = 0; from < size; from += group) {                                                       \
                const int32_t to = size - from < group ? size : from + group;                                          \
                const int64_t before = largest;                                                                        \
                for (int32_t i = from; i < to; i++) {                                                                  \
                    largest = x[i] > largest ? x[i] : largest;                                                         \
                }                                                                                                      \
                sum = shift_right(sum, halvings(softmax, largest - before));                                           \
                for (int32_t i = from; i < to; i++) {                                                                  \
                    sum += shift_right(softmax->levels, halvings(softmax, largest - x[i]));                            \
                }                                                                                                      \
            }                                                                                                          \
            const int64_t inverse = sum == 0 ? 0 : divide(top * softmax->levels, sum);                                 \
            for (int32_t i = 0; i < size; i++) {                                                                       \
                out[i] = (T)shift_right(inverse, halvings(softmax, largest - x[i]));                                   \
            }                                                                                                          \
        }                                                                                                              \
    }

POWER_SOFTMAX(partita_power_softmax_i8, int8_t)
POWER_SOFTMAX(partita_power_softmax_u8, uint8_t)
POWER_SOFTMAX(partita_power_softmax_i32, int32_t)

/* The floor of the root, one binary digit at a time; 0 for an overflowed argument. */
static int64_t square_root(int64_t square)
{
    uint64_t rest = square > 0 ? (uint64_t)square : 0;
    uint64_t root = 0;
    uint64_t digit = (uint64_t)1 << 62;
    while (digit > rest) {
        digit >>= 2;
    }
    while (digit != 0) {
        const uint64_t more = root + digit;
        root >>= 1;
        if (rest >= more) {
            rest -= more;
            root += digit;
        }
        digit >>= 2;
    }
    return (int64_t)root;
}

static inline int64_t normalised(const struct partita_integer_norm *norm, int64_t value, int64_t root, int32_t i)
{
    const int64_t weighted = partita_multiply_wrapping_64(value, norm->weight[i * norm->weight_stride]);
    const int64_t bias = norm->bias == 0 ? 0 : norm->bias[i * norm->bias_stride];
    const int64_t shifted = partita_add_wrapping_64(divide(weighted, root), bias) >> norm->shift;
    return partita_clamp(shifted, norm->low, norm->high);
}

#define INTEGER_NORM(TYPE, T)                                                                                          \
    static void normalise_##TYPE(const struct partita_integer_norm *norm, int32_t row, struct partita_range part,      \
                                 int32_t centre)                                                                       \
    {                                                                                                                  \
        const T *x = (const T *)norm->x + row * norm->size;                                                            \
        T *out = (T *)norm->out + row * norm->size;                                                                    \
        int64_t mean = 0;                                                                                              \
        int64_t squares = 0;                                                                                           \
        for (int32_t i = 0; i < norm->size && centre; i++) {                                                           \
            mean += x[i];                                                                                              \
        }                                                                                                              \
        mean = divide(mean, norm->size);                                                                               \
        for (int32_t i = 0; i < norm->size; i++) {                                                                     \
            const int64_t value = x[i] - mean;                                                                         \
            squares = partita_add_wrapping_64(squares, partita_multiply_wrapping_64(value, value));                    \
        }                                                                                                              \
        const int64_t root = square_root(partita_add_wrapping_64(divide(squares, norm->size), 1));                     \
        for (int32_t i = part.from; i < part.to; i++) {                                                                \
            out[i] = (T)normalised(norm, x[i] - mean, root > 1 ? root : 1, i);                                         \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void rows_##TYPE(const struct partita_integer_norm *norm, int32_t core, int32_t cores, int32_t centre)      \
    {                                                                                                                  \
        const int32_t few = norm->rows < cores;                                                                        \
        const struct partita_range all = {0, few ? norm->rows : norm->size};                                           \
        const struct partita_range share = partita_share(few ? norm->size : norm->rows, 1, core, cores);               \
        const struct partita_range rows = few ? all : share;                                                           \
        for (int32_t row = rows.from; row < rows.to && norm->size > 0; row++) {                                        \
            normalise_##TYPE(norm, row, few ? share : all, centre);                                                    \
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

INTEGER_NORM(i8, int8_t)
INTEGER_NORM(u8, uint8_t)
INTEGER_NORM(i32, int32_t)

static inline int64_t gelu(const struct partita_integer_gelu *gelu, int64_t x)
{
    const int64_t magnitude = x < 0 ? -x : x;
    const int64_t most = partita_multiply_wrapping_64(gelu->b, -1);
    const int64_t inside = partita_add_wrapping_64(magnitude < most ? magnitude : most, gelu->b);
    const int64_t square = partita_multiply_wrapping_64(inside, inside);
    const int64_t complement = partita_add_wrapping_64(gelu->one, partita_multiply_wrapping_64(square, -1));
    const int64_t error = partita_multiply_wrapping_64((x > 0) - (x < 0), complement);
    return partita_multiply_wrapping_64(x, partita_add_wrapping_64(gelu->one, error) >> 1);
}

#define INTEGER_GELU(NAME, T)                                                                                          \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_integer_gelu *operation = arguments;                                                      \
        const struct partita_range share = partita_share(operation->count, 8, core, cores);                            \
        const T *x = operation->x;                                                                                     \
        T *out = operation->out;                                                                                       \
        for (int32_t i = share.from; i < share.to; i++) {                                                              \
            out[i] = (T)gelu(operation, x[i]);                                                                         \
        }                                                                                                              \
    }

INTEGER_GELU(partita_integer_gelu_i8, int8_t)
INTEGER_GELU(partita_integer_gelu_u8, uint8_t)
INTEGER_GELU(partita_integer_gelu_i32, int32_t)
