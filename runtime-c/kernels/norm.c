#include "norm.h"

#include "float_functions.h"

enum { PARTS = 4 };

/* Part p adds elements p, p + 4, p + 8, ... */
#define SUM(NAME, VALUE)                                                                                               \
    static PARTITA_STAGED float NAME(const float *x, int32_t size, float shift)                                        \
    {                                                                                                                  \
        float sums[PARTS] = {0};                                                                                       \
        const int32_t whole = size - size % PARTS;                                                                     \
        (void)shift;                                                                                                   \
        for (int32_t i = 0; i < whole; i += PARTS) {                                                                   \
            float each[PARTS];                                                                                         \
            PARTITA_UNROLLED (int32_t part = 0; part < PARTS; part++) {                                                \
                each[part] = x[i + part];                                                                              \
            }                                                                                                          \
            PARTITA_UNROLLED (int32_t part = 0; part < PARTS; part++) {                                                \
                sums[part] += VALUE(each[part]);                                                                       \
            }                                                                                                          \
        }                                                                                                              \
        for (int32_t i = whole; i < size; i++) {                                                                       \
            sums[i - whole] += VALUE(x[i]);                                                                            \
        }                                                                                                              \
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);                                                              \
    }

#define ELEMENT(x) (x)
#define SQUARE(x) ((x) * (x))
#define SHIFTED_SQUARE(x) (((x) - shift) * ((x) - shift))

SUM(sum, ELEMENT)
SUM(sum_of_squares, SQUARE)
SUM(sum_of_shifted_squares, SHIFTED_SQUARE)

/* The functions of one statistic for a row, of which scale and bias may be null. */
static PARTITA_STAGED void scale_row(const struct partita_norm *norm, int32_t row, struct partita_range part,
                                     float mean, float inverse)
{
    const float *x = norm->x + row * norm->size;
    const float *scale = norm->scale;
    const float *bias = norm->bias;
    float *out = norm->out + row * norm->size;
    int32_t i = part.from;
    for (; i + PARTITA_GROUP <= part.to; i += PARTITA_GROUP) {
        float values[PARTITA_GROUP];
        PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
            values[e] = x[i + e];
        }
        PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
            values[e] -= mean;
        }
        PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
            values[e] *= inverse;
        }
        if (scale != 0) {
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

static void normalise(const struct partita_norm *norm, int32_t row, struct partita_range part, int32_t centre)
{
    const float *x = norm->x + row * norm->size;
    const float size = (float)norm->size;
    const float mean = centre ? sum(x, norm->size, 0) / size : 0.0f;
    const float squares = centre ? sum_of_shifted_squares(x, norm->size, mean) : sum_of_squares(x, norm->size, 0);
    const float root = partita_sqrt(squares / size + norm->epsilon);
    scale_row(norm, row, part, mean, 1.0f / root);
}

static void rows(const struct partita_norm *norm, int32_t core, int32_t cores, int32_t centre)
{
    const struct partita_range all = {0, norm->size};
    if (norm->rows < cores) {
        for (int32_t row = 0; row < norm->rows; row++) {
            normalise(norm, row, partita_share(norm->size, PARTS, core, cores), centre);
        }
        return;
    }
    const struct partita_range share = partita_share(norm->rows, 1, core, cores);
    for (int32_t row = share.from; row < share.to; row++) {
        normalise(norm, row, all, centre);
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
