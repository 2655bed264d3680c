#include "norm.h"

#include "float_functions.h"

enum { PARTS = 8 };

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
        return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7])) + rest;       \
    }

#define ELEMENT(x) (x)
#define SQUARE(x) ((x) * (x))
#define SHIFTED_SQUARE(x) (((x) - shift) * ((x) - shift))

SUM(sum, ELEMENT)
SUM(sum_of_squares, SQUARE)
SUM(sum_of_shifted_squares, SHIFTED_SQUARE)

/* Normalises a part of a row by its statistics. */
static PARTITA_STAGED void scale_row(const struct partita_norm *norm, int32_t row, struct partita_range part,
                                     float mean, float inverse)
{
    const int32_t first = row * norm->size;
    const float *x = norm->x + first;
    const float *scale = norm->scale;
    const float *bias = norm->bias;
    float *out = norm->out + first;
    int32_t i = part.from;
    for (; i + PARTITA_GROUP <= part.to; i += PARTITA_GROUP) {
        float values[PARTITA_GROUP];
        PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
            values[e] = x[i + e];
        }
        if (mean != 0) {
            PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
                values[e] -= mean;
            }
        }
        PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
            values[e] *= inverse;
        }
        if (__builtin_expect(scale != 0, 1)) {
            PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
                values[e] *= scale[i + e];
            }
        }
        if (bias != 0) {
            PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
                values[e] += bias[i + e];
            }
        }
        PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
            out[i + e] = values[e];
        }
    }
    for (; i < part.to; i++) {
        float value = (x[i] - mean) * inverse;
        value = scale == 0 ? value : value * scale[i];
        out[i] = bias == 0 ? value : value + bias[i];
    }
}

static PARTITA_COMPACT void rows(const struct partita_norm *norm, int32_t core, int32_t cores, int32_t centre)
{
    const float size = (float)norm->size;
    struct partita_range share = {0, norm->rows};
    struct partita_range part = {0, norm->size};
    if (norm->rows < cores) {
        part = partita_share(norm->size, PARTITA_GROUP, core, cores);
    } else {
        share = partita_share(norm->rows, 1, core, cores);
    }
    for (int32_t row = share.from; row < share.to; row++) {
        const float *x = norm->x + row * norm->size;
        const float mean = centre ? sum(x, norm->size, 0) / size : 0.0f;
        const float squares = centre ? sum_of_shifted_squares(x, norm->size, mean) : sum_of_squares(x, norm->size, 0);
        const float root = partita_sqrt(squares / size + norm->epsilon);
        scale_row(norm, row, part, mean, 1.0f / root);
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
