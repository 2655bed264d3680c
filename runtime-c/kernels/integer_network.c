#include "integer_network.h"

#include "lines.h"
#include "requantized.h"

/*
 * Multipliers and addends whose magnitudes are below these need 32 bits only: products with bytes are below 2^30, and
 * words can be clamped first, as partita_scale says.
 */
enum { MULTIPLIER_BITS_OF_BYTES = 22, BITS_OF_WORDS = 27 };

/* The scale of all elements, if there is one with which 32 bits are enough. All types share this code. */
static __attribute__((noinline)) struct partita_scale common_scale(const struct partita_requantize *requantize,
                                                                   int32_t are_bytes)
{
    int32_t strides = 0;
    for (int32_t axis = 0; axis < PARTITA_AXES; axis++) {
        strides |= requantize->multiplier_strides[axis] | requantize->addend_strides[axis];
    }
    if (strides != 0) {
        const struct partita_scale none = {.exists = 0};
        return none;
    }
    struct partita_requantized to = partita_requantized(requantize->shift, requantize->low, requantize->high);
    if (are_bytes && to.is_narrow && to.shift <= 28) {
        to.is_small |= partita_magnitudes(requantize->multiplier, 0, 1) >> MULTIPLIER_BITS_OF_BYTES == 0;
    }
    return partita_scale(to, *requantize->multiplier, *requantize->addend);
}

/* A part of a line, with a multiplier and an addend for each element, or the same ones with a step of 0. */
struct line {
    const int32_t *multiplier;
    const int32_t *addend;
    int32_t multiplier_step;
    int32_t addend_step;
    int32_t count;
};

/*
 * RESCALE: `count` elements, at least one, with one scale.
 * LINES: a line that isn't empty, in the way that way_of chooses.
 */
#ifdef PARTITA_XPULP

/* Ways to requantise a line. */
enum way {
    SMALL,   /* in 32 bits */
    SHIFTED, /* for shifts from 5 to 32: 64 bits are shifted into 32 that are saturated, if results are at most 2^28 */
    UPPER,   /* for shifts of at least 33: the upper half is enough */
    WIDE
};

static PARTITA_COMPACT enum way way_of(const struct partita_requantized *to, const struct line *line, int32_t are_bytes)
{
    const int32_t limit = 1 << 28;
    if (!to->is_narrow) {
        return WIDE;
    }
    if (to->shift > 32) {
        return UPPER;
    }
    if (to->is_small || (are_bytes && to->shift <= 28)) {
        const uint32_t multipliers =
            partita_magnitudes(line->multiplier, line->multiplier_step, line->multiplier_step == 0 ? 1 : line->count);
        const uint32_t addends =
            partita_magnitudes(line->addend, line->addend_step, line->addend_step == 0 ? 1 : line->count);
        if (multipliers >> (are_bytes ? MULTIPLIER_BITS_OF_BYTES : BITS_OF_WORDS) == 0 &&
            addends >> BITS_OF_WORDS == 0) {
            return SMALL;
        }
    }
    return to->shift >= 5 && to->low >= -limit && to->high <= limit ? SHIFTED : WIDE;
}

#define LOOP(LENGTH, LOAD, BODY, STORE, ...)                                                                           \
    __asm__ volatile(".p2align 2\n"                                                                                    \
                     ".option push\n"                                                                                  \
                     ".option norvc\n"                                                                                 \
                     "lp.setup 0, %[count], " LENGTH "\n" LOAD " %[value], %[x], %[in]\n" BODY                         \
                     "p.max %[value], %[value], %[low]\n"                                                              \
                     "p.min %[value], %[value], %[high]\n" STORE " %[value], %[to], %[on]\n"                           \
                     "lp.end 0\n"                                                                                      \
                     ".option pop\n"                                                                                   \
                     : [value] "=&r"(value), [sum] "=&r"(sum), [multiplier] "=&r"(multiplier), [addend] "=&r"(addend), \
                       [x] "+r"(x), [to] "+r"(out), [multipliers] "+r"(line.multiplier), [addends] "+r"(line.addend)   \
                     : [count] "r"(line.count), [in] "r"((int32_t)sizeof(*x)), [on] "r"((int32_t)sizeof(*out)),        \
                       [multiplier_step] "r"(4 * line.multiplier_step), [addend_step] "r"(4 * line.addend_step),       \
                       [low] "r"(low), [high] "r"(high), __VA_ARGS__                                                   \
                     : "memory")

#define RESCALE(TYPES, IN, OUT, LOAD, STORE)                                                                           \
    static inline void scaled_##TYPES(struct partita_scale scale, int32_t shift, int32_t low, int32_t high,            \
                                      const IN *x, OUT *out, int32_t count)                                            \
    {                                                                                                                  \
        int32_t value, sum;                                                                                            \
        __asm__ volatile(".p2align 2\n"                                                                                \
                         ".option push\n"                                                                              \
                         ".option norvc\n"                                                                             \
                         "lp.setup 0, %[count], 8\n" LOAD " %[value], %[x], %[in]\n"                                   \
                         "mv %[sum], %[addend]\n"                                                                      \
                         "p.clipr %[value], %[value], %[most]\n"                                                       \
                         "p.mac %[sum], %[value], %[multiplier]\n"                                                     \
                         "sra %[sum], %[sum], %[shift]\n"                                                              \
                         "p.max %[sum], %[sum], %[low]\n"                                                              \
                         "p.min %[sum], %[sum], %[high]\n" STORE " %[sum], %[to], %[on]\n"                             \
                         "lp.end 0\n"                                                                                  \
                         ".option pop\n"                                                                               \
                         : [value] "=&r"(value), [sum] "=&r"(sum), [x] "+r"(x), [to] "+r"(out)                         \
                         : [count] "r"(count), [in] "r"((int32_t)sizeof(*x)), [on] "r"((int32_t)sizeof(*out)),         \
                           [addend] "r"(scale.addend), [most] "r"(scale.most), [multiplier] "r"(scale.multiplier),     \
                           [shift] "r"(shift), [low] "r"(low), [high] "r"(high)                                        \
                         : "memory");                                                                                  \
    }

/* The sum of 64 bits but half of the last digit: its upper half is in `value`, its lower one in `sum`. */
#define SUM_OF_64_BITS                                                                                                 \
    "p.lw %[multiplier], %[multipliers], %[multiplier_step]\n"                                                         \
    "p.lw %[addend], %[addends], %[addend_step]\n"                                                                     \
    "mv %[sum], %[addend]\n"                                                                                           \
    "p.mac %[sum], %[value], %[multiplier]\n"                                                                          \
    "mulh %[value], %[value], %[multiplier]\n"                                                                         \
    "sltu %[multiplier], %[sum], %[addend]\n"                                                                          \
    "srai %[addend], %[addend], 31\n"                                                                                  \
    "add %[value], %[value], %[multiplier]\n"                                                                          \
    "add %[value], %[value], %[addend]\n"

/*
 * SHIFTED: a sum is shifted by d = shift - 1 first, and by the last digit after rounding by it. Its upper half is saturated,
 * so that it is at most 2^30; where that changes it, it is at least 2^30 - 2^(32 - d), so beyond limits of 2^28 for d >= 4.
 */
#define LINES(TYPES, IN, OUT, LOAD, STORE)                                                                             \
    static PARTITA_COMPACT void narrow_##TYPES(const struct partita_requantized *requantized, struct line line,        \
                                               enum way way, const IN *x, OUT *out)                                    \
    {                                                                                                                  \
        const int32_t shift = requantized->shift;                                                                      \
        const int32_t low = (int32_t)requantized->low;                                                                 \
        const int32_t high = (int32_t)requantized->high;                                                               \
        int32_t value, multiplier, addend;                                                                             \
        uint32_t sum;                                                                                                  \
        if (way == SMALL) {                                                                                            \
            LOOP("13", LOAD,                                                                                           \
                 "p.lw %[multiplier], %[multipliers], %[multiplier_step]\n"                                            \
                 "p.lw %[addend], %[addends], %[addend_step]\n"                                                        \
                 "p.abs %[sum], %[multiplier]\n"                                                                       \
                 "p.fl1 %[sum], %[sum]\n"                                                                              \
                 "srl %[sum], %[top], %[sum]\n"                                                                        \
                 "p.clipr %[value], %[value], %[sum]\n"                                                                \
                 "add %[addend], %[addend], %[half]\n"                                                                 \
                 "p.mac %[addend], %[value], %[multiplier]\n"                                                          \
                 "sra %[value], %[addend], %[shift]\n",                                                                \
                 STORE, [top] "r"(1 << 29), [half] "r"((int32_t)requantized->half), [shift] "r"(shift));               \
        } else if (way == SHIFTED) {                                                                                   \
            LOOP("19", LOAD,                                                                                           \
                 SUM_OF_64_BITS "p.clipr %[value], %[value], %[most]\n"                                                \
                                "sll %[value], %[value], %[up]\n"                                                      \
                                "srl %[sum], %[sum], %[down]\n"                                                        \
                                "or %[value], %[value], %[sum]\n"                                                      \
                                "addi %[value], %[value], 1\n"                                                         \
                                "srai %[value], %[value], 1\n",                                                        \
                 STORE, [most] "r"((1 << (shift - 3)) - 1), [up] "r"(33 - shift), [down] "r"(shift - 1));              \
        } else {                                                                                                       \
            LOOP("15", LOAD,                                                                                           \
                 SUM_OF_64_BITS "add %[value], %[value], %[half]\n"                                                    \
                                "sra %[value], %[value], %[down]\n",                                                   \
                 STORE, [half] "r"(1 << (shift - 33)), [down] "r"(shift - 32));                                        \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static inline void line_##TYPES(const struct partita_requantized *requantized, struct line line, enum way way,     \
                                    const IN *x, OUT *out)                                                             \
    {                                                                                                                  \
        if (way == WIDE) {                                                                                             \
            wide_##TYPES(*requantized, line, x, out);                                                                  \
        } else {                                                                                                       \
            narrow_##TYPES(requantized, line, way, x, out);                                                            \
        }                                                                                                              \
    }

#else

enum way { WIDE };

static inline enum way way_of(const struct partita_requantized *to, const struct line *line, int32_t are_bytes)
{
    (void)to;
    (void)line;
    (void)are_bytes;
    return WIDE;
}

#define RESCALE(TYPES, IN, OUT, LOAD, STORE)                                                                           \
    static inline void scaled_##TYPES(struct partita_scale scale, int32_t shift, int32_t low, int32_t high,            \
                                      const IN *x, OUT *out, int32_t count)                                            \
    {                                                                                                                  \
        for (int32_t i = 0; i < count; i++) {                                                                          \
            out[i] = (OUT)partita_rescale(scale, shift, low, high, x[i]);                                              \
        }                                                                                                              \
    }

#define LINES(TYPES, IN, OUT, LOAD, STORE)                                                                             \
    static inline void line_##TYPES(const struct partita_requantized *requantized, struct line line, enum way way,     \
                                    const IN *x, OUT *out)                                                             \
    {                                                                                                                  \
        (void)way;                                                                                                     \
        wide_##TYPES(*requantized, line, x, out);                                                                      \
    }

#endif

/* The short code of a common scale is apart from the rest, since most calls find the instruction cache cold. */
#define REQUANTIZE(TYPES, IN, OUT, LOAD, STORE)                                                                        \
    static PARTITA_COMPACT void wide_##TYPES(struct partita_requantized to, struct line line, const IN *x, OUT *out)   \
    {                                                                                                                  \
        for (int32_t i = 0; i < line.count; i++) {                                                                     \
            out[i] = (OUT)partita_requantize(to, x[i], *line.multiplier, *line.addend);                                \
            line.multiplier += line.multiplier_step;                                                                   \
            line.addend += line.addend_step;                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    RESCALE(TYPES, IN, OUT, LOAD, STORE)                                                                               \
    LINES(TYPES, IN, OUT, LOAD, STORE)                                                                                 \
                                                                                                                       \
    static __attribute__((noinline)) void lines_##TYPES(const struct partita_requantize *requantize,                   \
                                                        struct partita_range share)                                    \
    {                                                                                                                  \
        const struct partita_requantized to =                                                                          \
            partita_requantized(requantize->shift, requantize->low, requantize->high);                                 \
        struct line line = {.multiplier_step = requantize->multiplier_strides[PARTITA_AXES - 1],                       \
                            .addend_step = requantize->addend_strides[PARTITA_AXES - 1]};                              \
        struct line last = {.multiplier = 0};                                                                          \
        enum way way = WIDE;                                                                                           \
        struct partita_lines lines = partita_lines(requantize->extents, share, 2, requantize->multiplier_strides,      \
                                                   requantize->addend_strides, 0);                                     \
        while (partita_next_line(&lines)) {                                                                            \
            line.multiplier = requantize->multiplier + lines.offset[0] + lines.first * line.multiplier_step;           \
            line.addend = requantize->addend + lines.offset[1] + lines.first * line.addend_step;                       \
            line.count = lines.length;                                                                                 \
            if (line.multiplier != last.multiplier || line.addend != last.addend || line.count > last.count) {         \
                way = way_of(&to, &line, sizeof(IN) == 1);                                                             \
                last = line;                                                                                           \
            }                                                                                                          \
            line_##TYPES(&to, line, way, (const IN *)requantize->x + lines.position,                                   \
                         (OUT *)requantize->out + lines.position);                                                     \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    void partita_requantize_##TYPES(const void *arguments, int32_t core, int32_t cores)                                \
    {                                                                                                                  \
        const struct partita_requantize *requantize = arguments;                                                       \
        const struct partita_range share = partita_share_of(requantize->extents, core, cores);                      \
        if (share.from == share.to) {                                                                                  \
            return;                                                                                                    \
        }                                                                                                              \
        const struct partita_scale scale = common_scale(requantize, sizeof(IN) == 1);                                  \
        if (!scale.exists) {                                                                                           \
            lines_##TYPES(requantize, share);                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        scaled_##TYPES(scale, requantize->shift, (int32_t)requantize->low, (int32_t)requantize->high,                  \
                       (const IN *)requantize->x + share.from, (OUT *)requantize->out + share.from,                    \
                       share.to - share.from);                                                                         \
    }

REQUANTIZE(i8_i8, int8_t, int8_t, "p.lb", "p.sb")
REQUANTIZE(i8_u8, int8_t, uint8_t, "p.lb", "p.sb")
REQUANTIZE(i8_i32, int8_t, int32_t, "p.lb", "p.sw")
REQUANTIZE(u8_i8, uint8_t, int8_t, "p.lbu", "p.sb")
REQUANTIZE(u8_u8, uint8_t, uint8_t, "p.lbu", "p.sb")
REQUANTIZE(u8_i32, uint8_t, int32_t, "p.lbu", "p.sw")
REQUANTIZE(i32_i8, int32_t, int8_t, "p.lw", "p.sb")
REQUANTIZE(i32_u8, int32_t, uint8_t, "p.lw", "p.sb")
REQUANTIZE(i32_i32, int32_t, int32_t, "p.lw", "p.sw")

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

/*
 * The same for bytes in 32 bits that wrap, which the result's lower 8 are computed from. Magnitudes of bytes are at most 255.
 * An x of 0 may have any sign.
 */
struct byte_gelu {
    uint32_t b;
    uint32_t one;
    int32_t most;
};

static struct byte_gelu byte_gelu(const struct partita_integer_gelu *gelu)
{
    const int64_t most = partita_multiply_wrapping_64(gelu->b, -1);
    struct byte_gelu bytes = {.b = (uint32_t)gelu->b, .one = (uint32_t)gelu->one};
    if (most < 0) { /* It is less than all magnitudes. */
        bytes.b = 0;
    } else {
        bytes.most = most < 255 ? (int32_t)most : 255;
    }
    return bytes;
}

/* BYTE_GELU: of `count` bytes, at least one. */
#ifdef PARTITA_XPULP

#define BYTE_GELU(NAME, T, LOAD)                                                                                       \
    static inline void NAME(struct byte_gelu gelu, const T *x, T *out, int32_t count)                                  \
    {                                                                                                                  \
        int32_t value, sign, result;                                                                                   \
        __asm__ volatile(".p2align 2\n"                                                                                \
                         ".option push\n"                                                                              \
                         ".option norvc\n"                                                                             \
                         "lp.setup 0, %[count], 13\n" LOAD " %[value], %[x], %[byte]\n"                                \
                         "p.abs %[result], %[value]\n"                                                                 \
                         "p.min %[result], %[result], %[most]\n"                                                       \
                         "add %[result], %[result], %[b]\n"                                                            \
                         "srai %[sign], %[value], 31\n"                                                                \
                         "mul %[result], %[result], %[result]\n"                                                       \
                         "sub %[result], %[unit], %[result]\n"                                                         \
                         "xor %[result], %[result], %[sign]\n"                                                         \
                         "sub %[result], %[result], %[sign]\n"                                                         \
                         "add %[result], %[result], %[unit]\n"                                                         \
                         "srai %[result], %[result], 1\n"                                                              \
                         "mul %[result], %[result], %[value]\n"                                                        \
                         "p.sb %[result], %[to], %[byte]\n"                                                            \
                         "lp.end 0\n"                                                                                  \
                         ".option pop\n"                                                                               \
                         : [value] "=&r"(value), [sign] "=&r"(sign), [result] "=&r"(result), [x] "+r"(x),              \
                           [to] "+r"(out)                                                                              \
                         : [count] "r"(count), [byte] "r"(1), [most] "r"(gelu.most), [b] "r"(gelu.b),                  \
                           [unit] "r"(gelu.one)                                                                        \
                         : "memory");                                                                                  \
    }

#else

#define BYTE_GELU(NAME, T, LOAD)                                                                                       \
    static inline void NAME(struct byte_gelu gelu, const T *x, T *out, int32_t count)                                  \
    {                                                                                                                  \
        for (int32_t i = 0; i < count; i++) {                                                                          \
            const int32_t magnitude = x[i] < 0 ? -x[i] : x[i];                                                         \
            const uint32_t inside = (uint32_t)partita_min(magnitude, gelu.most) + gelu.b;                              \
            const uint32_t complement = gelu.one - inside * inside;                                                    \
            const uint32_t both = gelu.one + (x[i] < 0 ? -complement : complement);                                    \
            out[i] = (T)((uint32_t)x[i] * (both >> 1));                                                                \
        }                                                                                                              \
    }

#endif

BYTE_GELU(gelu_i8, int8_t, "p.lb")
BYTE_GELU(gelu_u8, uint8_t, "p.lbu")

static void gelu_i32(const struct partita_integer_gelu *operation, const int32_t *x, int32_t *out, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        out[i] = (int32_t)gelu(operation, x[i]);
    }
}

#define INTEGER_GELU(NAME, T, GELU, OPERATION)                                                                         \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_integer_gelu *operation = arguments;                                                      \
        const struct partita_range share = partita_share(operation->count, 8, core, cores);                            \
        if (share.from < share.to) {                                                                                   \
            GELU(OPERATION, (const T *)operation->x + share.from, (T *)operation->out + share.from,                    \
                 share.to - share.from);                                                                               \
        }                                                                                                              \
    }

INTEGER_GELU(partita_integer_gelu_i8, int8_t, gelu_i8, byte_gelu(operation))
INTEGER_GELU(partita_integer_gelu_u8, uint8_t, gelu_u8, byte_gelu(operation))
INTEGER_GELU(partita_integer_gelu_i32, int32_t, gelu_i32, operation)

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
