#include "integer_network.h"

#include "lines.h"
#include "requantized.h"

/* The scale of all elements, if there is one with which 32 bits are enough. All types share this code. */
static __attribute__((noinline)) struct partita_scale common_scale(const struct partita_requantize *requantize)
{
    int32_t strides = 0;
    for (int32_t axis = 0; axis < PARTITA_AXES; axis++) {
        strides |= requantize->multiplier_strides[axis] | requantize->addend_strides[axis];
    }
    if (strides != 0) {
        const struct partita_scale none = {.exists = 0};
        return none;
    }
    return partita_scale(partita_requantized(requantize->shift, requantize->low, requantize->high),
                         *requantize->multiplier, *requantize->addend);
}

/* The short code of a common scale is apart from the rest, since most calls find the instruction cache cold. */
#define REQUANTIZE(NAME, IN, OUT)                                                                                      \
    static __attribute__((noinline)) void NAME##_lines(const struct partita_requantize *requantize,                    \
                                                       struct partita_range share)                                     \
    {                                                                                                                  \
        const struct partita_requantized to =                                                                          \
            partita_requantized(requantize->shift, requantize->low, requantize->high);                                 \
        const int32_t multiplier_step = requantize->multiplier_strides[PARTITA_AXES - 1];                              \
        const int32_t addend_step = requantize->addend_strides[PARTITA_AXES - 1];                                      \
        struct partita_lines lines = partita_lines(requantize->extents, share, 2, requantize->multiplier_strides,      \
                                                   requantize->addend_strides, 0);                                     \
        while (partita_next_line(&lines)) {                                                                            \
            const int32_t *multiplier = requantize->multiplier + lines.offset[0] + lines.first * multiplier_step;      \
            const int32_t *addend = requantize->addend + lines.offset[1] + lines.first * addend_step;                  \
            const IN *x = (const IN *)requantize->x + lines.position;                                                  \
            OUT *out = (OUT *)requantize->out + lines.position;                                                        \
            for (int32_t i = 0; i < lines.length; i++) {                                                               \
                out[i] = (OUT)partita_requantize(to, x[i], *multiplier, *addend);                                      \
                multiplier += multiplier_step;                                                                         \
                addend += addend_step;                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_requantize *requantize = arguments;                                                       \
        const struct partita_range share = partita_share_of(requantize->extents, 8, core, cores);                      \
        if (share.from == share.to) {                                                                                  \
            return;                                                                                                    \
        }                                                                                                              \
        const struct partita_scale scale = common_scale(requantize);                                                   \
        if (!scale.exists) {                                                                                           \
            NAME##_lines(requantize, share);                                                                           \
            return;                                                                                                    \
        }                                                                                                              \
        const int32_t low = (int32_t)requantize->low;                                                                  \
        const int32_t high = (int32_t)requantize->high;                                                                \
        const int32_t shift = requantize->shift;                                                                       \
        const IN *x = (const IN *)requantize->x + share.from;                                                          \
        OUT *out = (OUT *)requantize->out + share.from;                                                                \
        for (int32_t left = share.to - share.from; left > 0; left--) {                                                 \
            *out++ = (OUT)partita_rescale(scale, shift, low, high, *x++);                                              \
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

static inline float float_at(const float *floats, int32_t index)
{
    return floats[index];
}

/* Eight elements at a time: no load waits for the one before. */
#define LOOKUP(NAME, IN, LEAST, OUT, AT)                                                                               \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_lookup *lookup = arguments;                                                               \
        const struct partita_range share = partita_share(lookup->count, 8, core, cores);                               \
        const OUT *table = (const OUT *)lookup->table - (LEAST);                                                       \
        const IN *x = (const IN *)lookup->x + share.from;                                                              \
        OUT *out = (OUT *)lookup->out + share.from;                                                                    \
        int32_t left = share.to - share.from;                                                                          \
        for (; left >= 8; left -= 8) {                                                                                 \
            int32_t values[8];                                                                                         \
            OUT entries[8];                                                                                            \
            PARTITA_UNROLLED (int32_t i = 0; i < 8; i++) {                                                             \
                values[i] = x[i];                                                                                      \
            }                                                                                                          \
            PARTITA_UNROLLED (int32_t i = 0; i < 8; i++) {                                                             \
                entries[i] = AT(table, values[i]);                                                                     \
            }                                                                                                          \
            PARTITA_UNROLLED (int32_t i = 0; i < 8; i++) {                                                             \
                out[i] = entries[i];                                                                                   \
            }                                                                                                          \
            x += 8;                                                                                                    \
            out += 8;                                                                                                  \
        }                                                                                                              \
        for (int32_t i = 0; i < left; i++) {                                                                           \
            out[i] = AT(table, x[i]);                                                                                  \
        }                                                                                                              \
    }

LOOKUP(partita_lookup_i8_i8, int8_t, INT8_MIN, uint8_t, partita_byte_at)
LOOKUP(partita_lookup_i8_u8, int8_t, INT8_MIN, uint8_t, partita_byte_at)
LOOKUP(partita_lookup_i8_f32, int8_t, INT8_MIN, float, float_at)
LOOKUP(partita_lookup_u8_i8, uint8_t, 0, uint8_t, partita_byte_at)
LOOKUP(partita_lookup_u8_u8, uint8_t, 0, uint8_t, partita_byte_at)
LOOKUP(partita_lookup_u8_f32, uint8_t, 0, float, float_at)
