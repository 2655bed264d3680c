#include "norm.h"

#include "levels.h"

enum { PARTS = PARTITA_NORM_PARTS };

static inline float added(const float *sums)
{
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/* Part p adds elements p, p + 8, p + 16, ...; a sum of its own has those after the last whole eight. */
#define SUM(NAME, VALUE)                                                                                               \
    static PARTITA_STAGED float NAME(const float *x, int32_t size, float shift)                                        \
    {                                                                                                                  \
        float sums[PARTS] = {0};                                                                                       \
        float rest = 0;                                                                                                \
        (void)shift;                                                                                                   \
        for (; size >= PARTS; size -= PARTS, x += PARTS) {                                                             \
            float each[PARTS];                                                                                         \
            PARTITA_UNROLLED (int32_t part = 0; part < PARTS; part++) {                                                \
                each[part] = x[part];                                                                                  \
            }                                                                                                          \
            PARTITA_UNROLLED (int32_t part = 0; part < PARTS; part++) {                                                \
                sums[part] += VALUE(each[part]);                                                                       \
            }                                                                                                          \
        }                                                                                                              \
        for (; size > 0; size--, x++) {                                                                                \
            rest += VALUE(*x);                                                                                         \
        }                                                                                                              \
        return added(sums) + rest;                                                                                     \
    }                                                                                                                  \
                                                                                                                       \
    /* A part of a row of whole eights. */                                                                             \
    static PARTITA_STAGED float NAME##_of_part(const float *x, int32_t eights, float shift)                            \
    {                                                                                                                  \
        float all = 0;                                                                                                 \
        (void)shift;                                                                                                   \
        for (; eights >= PARTITA_GROUP; eights -= PARTITA_GROUP, x += PARTITA_GROUP * PARTS) {                         \
            float each[PARTITA_GROUP];                                                                                 \
            PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {                                                 \
                each[e] = x[e * PARTS];                                                                                \
            }                                                                                                          \
            PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {                                                 \
                all += VALUE(each[e]);                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
        for (; eights > 0; eights--, x += PARTS) {                                                                     \
            all += VALUE(*x);                                                                                          \
        }                                                                                                              \
        return all;                                                                                                    \
    }                                                                                                                  \
                                                                                                                       \
    /* The sum of a row, of its parts. */                                                                              \
    static inline float NAME##_of_row(const float *x, int32_t size, float shift, const float *parts)                   \
    {                                                                                                                  \
        float rest = 0;                                                                                                \
        (void)shift;                                                                                                   \
        for (int32_t i = size & ~(PARTS - 1); i < size; i++) {                                                         \
            rest += VALUE(x[i]);                                                                                       \
        }                                                                                                              \
        return added(parts) + rest;                                                                                    \
    }

#define ELEMENT(x) (x)
#define SQUARE(x) ((x) * (x))
#define SHIFTED_SQUARE(x) (((x) - shift) * ((x) - shift))

SUM(sum, ELEMENT)
SUM(sum_of_squares, SQUARE)
SUM(sum_of_shifted_squares, SHIFTED_SQUARE)

enum { WIDE = 2 * PARTITA_GROUP };

/*
 * Normalises whole groups, with a mean if `is_centred`, and with a bias if `is_biased`, both constants. Returns the number of
 * elements.
 */
PARTITA_INLINE int32_t scale_groups(const float *x, const float *scale, const float *bias, int32_t is_centred,
                                    int32_t is_biased, float *out, int32_t count, float mean, float inverse)
{
    int32_t i = 0;
    for (; i + WIDE <= count; i += WIDE) {
        float values[WIDE];
        PARTITA_UNROLLED (int32_t e = 0; e < WIDE; e++) {
            values[e] = x[i + e];
        }
        PARTITA_UNROLLED (int32_t e = 0; e < WIDE; e++) {
            values[e] = is_centred ? values[e] - mean : values[e];
        }
        PARTITA_UNROLLED (int32_t e = 0; e < WIDE; e++) {
            values[e] *= inverse;
        }
        PARTITA_UNROLLED (int32_t e = 0; e < WIDE; e++) {
            values[e] = is_biased ? values[e] * scale[i + e] + bias[i + e] : values[e] * scale[i + e];
        }
        PARTITA_UNROLLED (int32_t e = 0; e < WIDE; e++) {
            out[i + e] = values[e];
        }
    }
    return i;
}

static PARTITA_STAGED int32_t scale_biased(const float *x, const float *scale, const float *bias, float *out,
                                           int32_t count, float mean, float inverse)
{
    return scale_groups(x, scale, bias, 1, 1, out, count, mean, inverse);
}

static PARTITA_STAGED int32_t scale_unbiased(const float *x, const float *scale, float *out, int32_t count,
                                             float mean, float inverse)
{
    return scale_groups(x, scale, 0, 1, 0, out, count, mean, inverse);
}

static PARTITA_STAGED int32_t scale_uncentred(const float *x, const float *scale, float *out, int32_t count,
                                              float inverse)
{
    return scale_groups(x, scale, 0, 0, 0, out, count, 0, inverse);
}

/*
 * sum / size. The cores' divisions take their turns in one unit, so that a power of two, for which a product has the same
 * result, takes a tenth of the time.
 */
static inline float average(float sum, int32_t size)
{
    if (size > 0 && (size & (size - 1)) == 0) {
        return sum * partita_from_bits((uint32_t)(127 - partita_highest_bit((uint32_t)size)) << 23);
    }
    return sum / (float)size;
}

/* What a row is multiplied by. */
static inline float inverse_root(float squares, int32_t size, float epsilon)
{
    return 1.0f / partita_sqrt(average(squares, size) + epsilon);
}

/* Normalises a part of a row by its statistics. */
static PARTITA_COMPACT void scale_row(const struct partita_norm *norm, int32_t row, struct partita_range part,
                                      int32_t is_centred, float mean, float inverse)
{
    const int32_t first = row * norm->size;
    const float *x = norm->x + first;
    const float *scale = norm->scale;
    const float *bias = norm->bias;
    float *out = norm->out + first;
    const int32_t count = part.to - part.from;
    int32_t i = part.from;
    if (scale != 0 && bias != 0) {
        i += scale_biased(x + i, scale + i, bias + i, out + i, count, mean, inverse);
    } else if (scale != 0 && !is_centred) {
        i += scale_uncentred(x + i, scale + i, out + i, count, inverse);
    } else if (scale != 0) {
        i += scale_unbiased(x + i, scale + i, out + i, count, mean, inverse);
    }
    for (; i < part.to; i++) {
        float value = (x[i] - mean) * inverse;
        value = scale == 0 ? value : value * scale[i];
        out[i] = bias == 0 ? value : value + bias[i];
    }
}

static PARTITA_COMPACT void rows(const struct partita_norm *norm, int32_t core, int32_t cores, int32_t centre)
{
    struct partita_range share = {0, norm->rows};
    struct partita_range part = {0, norm->size};
    if (norm->rows < cores) {
        part = partita_share(norm->size, PARTITA_GROUP, core, cores);
    } else {
        share = partita_share(norm->rows, 1, core, cores);
    }
    for (int32_t row = share.from; row < share.to; row++) {
        const float *x = norm->x + row * norm->size;
        const float mean = centre ? average(sum(x, norm->size, 0), norm->size) : 0.0f;
        const float squares = centre ? sum_of_shifted_squares(x, norm->size, mean) : sum_of_squares(x, norm->size, 0);
        scale_row(norm, row, part, centre, mean, inverse_root(squares, norm->size, norm->epsilon));
    }
}

void partita_layer_norm_f32(const void *arguments, int32_t core, int32_t cores)
{
    rows(arguments, core, cores, 1);
}

void partita_rms_norm_f32(const void *arguments, int32_t core, int32_t cores)
{
    rows(arguments, core, cores, 0);
}

static inline float mean_of(const float *x, int32_t size, const float *elements)
{
    return elements == 0 ? 0.0f : average(sum_of_row(x, size, 0, elements), size);
}

/* A core has the same parts of all rows. */
void partita_norm_sums_f32(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_norm_sums *sums = arguments;
    const struct partita_range share = partita_share(PARTS, 1, core, cores);
    for (int32_t row = 0; row < sums->rows; row++) {
        for (int32_t part = share.from; part < share.to; part++) {
            const float *x = sums->x + row * sums->size + part;
            sums->out[row * PARTS + part] = sum_of_part(x, sums->size / PARTS, 0);
        }
    }
}

void partita_norm_squares_f32(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_norm_sums *sums = arguments;
    const int32_t eights = sums->size / PARTS;
    const struct partita_range share = partita_share(PARTS, 1, core, cores);
    for (int32_t row = 0; row < sums->rows; row++) {
        const float *x = sums->x + row * sums->size;
        const float *elements = sums->elements == 0 ? 0 : sums->elements + row * PARTS;
        const float mean = mean_of(x, sums->size, elements);
        for (int32_t part = share.from; part < share.to; part++) {
            sums->out[row * PARTS + part] = elements == 0 ? sum_of_squares_of_part(x + part, eights, 0)
                                                          : sum_of_shifted_squares_of_part(x + part, eights, mean);
        }
    }
}

static PARTITA_COMPACT void layer_by_sums(const struct partita_norm_by_sums *by, const struct partita_norm *norm,
                                          struct partita_range part)
{
    for (int32_t row = 0; row < by->rows; row++) {
        const float *x = by->x + row * by->size;
        const float mean = mean_of(x, by->size, by->elements + row * PARTS);
        const float squares = sum_of_shifted_squares_of_row(x, by->size, mean, by->squares + row * PARTS);
        scale_row(norm, row, part, 1, mean, inverse_root(squares, by->size, by->epsilon));
    }
}

static PARTITA_COMPACT void rms_by_sums(const struct partita_norm_by_sums *by, const struct partita_norm *norm,
                                        struct partita_range part)
{
    for (int32_t row = 0; row < by->rows; row++) {
        const float squares = sum_of_squares_of_row(by->x + row * by->size, by->size, 0, by->squares + row * PARTS);
        scale_row(norm, row, part, 0, 0.0f, inverse_root(squares, by->size, by->epsilon));
    }
}

void partita_norm_by_sums_f32(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_norm_by_sums *by = arguments;
    const struct partita_norm norm = {by->x, by->scale, by->bias, by->out, by->rows, by->size, by->epsilon};
    const struct partita_range part = partita_share(by->size, PARTITA_GROUP, core, cores);
    if (by->elements != 0) {
        layer_by_sums(by, &norm, part);
    } else {
        rms_by_sums(by, &norm, part);
    }
}

/*
 * near_TYPE: the levels of whole groups, before one that needs a division; returns the number of elements. Values in between
 * have the bits of norm_by_sums.
 */
#define QUANTIZE(TYPE, T, MIN, MAX)                                                                                    \
    static PARTITA_STAGED int32_t near_##TYPE(const float *x, const float *scale, T *out, int32_t count,               \
                                              float inverse, struct partita_levels to)                                 \
    {                                                                                                                  \
        uint8_t *bytes = (uint8_t *)out;                                                                               \
        int32_t next = 0;                                                                                              \
        for (; next + PARTITA_GROUP <= count; next += PARTITA_GROUP, x += PARTITA_GROUP, scale += PARTITA_GROUP) {     \
            float values[PARTITA_GROUP];                                                                               \
            uint32_t digits = (uint32_t)PARTITA_NO_DIGITS;                                                             \
            PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {                                                 \
                values[e] = x[e];                                                                                      \
            }                                                                                                          \
            PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {                                                 \
                values[e] *= inverse;                                                                                  \
            }                                                                                                          \
            PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {                                                 \
                values[e] *= scale[e];                                                                                 \
            }                                                                                                          \
            const uint32_t levels = partita_near_##TYPE(to, values, &digits);                                          \
            if (!partita_are_right(digits)) {                                                                          \
                return next;                                                                                           \
            }                                                                                                          \
            partita_store_word(&bytes, 4, levels);                                                                     \
        }                                                                                                              \
        return next;                                                                                                   \
    }                                                                                                                  \
                                                                                                                       \
    PARTITA_COMPACT void partita_rms_norm_quantize_f32_##TYPE(const void *arguments, int32_t core, int32_t cores)      \
    {                                                                                                                  \
        const struct partita_norm_quantize *norm = arguments;                                                          \
        const struct partita_range part = partita_share(norm->size, PARTITA_GROUP, core, cores);                       \
        const struct partita_levels to = partita_levels(*norm->step, *(const T *)norm->zero);                          \
        const float *x = norm->x;                                                                                      \
        const float *squares = norm->squares;                                                                          \
        const float *const scale = norm->scale;                                                                        \
        T *out = norm->out;                                                                                            \
        for (int32_t row = 0; row < norm->rows; row++, squares += PARTS, x += norm->size, out += norm->size) {         \
            const float sum = sum_of_squares_of_row(x, norm->size, 0, squares);                                        \
            const float inverse = inverse_root(sum, norm->size, norm->epsilon);                                        \
            for (int32_t next = part.from; next < part.to;) {                                                          \
                next += near_##TYPE(x + next, scale + next, out + next, part.to - next, inverse, to);                  \
                for (int32_t i = 0; i < PARTITA_GROUP && next < part.to; i++, next++) {                                \
                    out[next] = (T)partita_level(to, x[next] * inverse * scale[next], MIN, MAX);                       \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

QUANTIZE(i8, int8_t, INT8_MIN, INT8_MAX)
QUANTIZE(u8, uint8_t, 0, UINT8_MAX)
