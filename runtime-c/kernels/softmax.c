#include "softmax.h"

#include "exponential.h"

struct line {
    const float *x;
    float *out;
    int32_t extent;
    int32_t step;
};

static struct line line(const struct partita_softmax *softmax, int32_t number)
{
    const int32_t start = number / softmax->inner * softmax->extent * softmax->inner + number % softmax->inner;
    const struct line line = {softmax->x + start, softmax->out + start, softmax->extent, softmax->inner};
    return line;
}

/* NaN is ignored: with it or without, the sum is NaN. */
static PARTITA_STAGED float largest(struct line line)
{
    float all[PARTITA_GROUP] = {-PARTITA_INFINITY, -PARTITA_INFINITY, -PARTITA_INFINITY, -PARTITA_INFINITY};
    for (; line.extent >= PARTITA_GROUP; line.extent -= PARTITA_GROUP) {
        float values[PARTITA_GROUP];
        PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
            values[e] = *line.x;
            line.x += line.step;
        }
        PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
            all[e] = partita_greater(values[e], all[e]);
        }
    }
    for (; line.extent > 0; line.extent--, line.x += line.step) {
        all[0] = partita_greater(*line.x, all[0]);
    }
    return partita_greater(partita_greater(all[0], all[1]), partita_greater(all[2], all[3]));
}

/*
 * e^(x - top) of whole groups before one that isn't within the range; returns the number of elements. They are added to
 * PARTITA_GROUP sums, so that none waits for the last, and stored if `is_stored`, a constant.
 */
PARTITA_INLINE int32_t weigh_groups(struct line line, float top, float *sums, int32_t is_stored)
{
    float all[PARTITA_GROUP];
    int32_t left = line.extent;
    PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
        all[e] = sums[e];
    }
    for (; left >= PARTITA_GROUP; left -= PARTITA_GROUP) {
        float values[PARTITA_GROUP];
        PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
            values[e] = *line.x;
            line.x += line.step;
        }
        PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
            values[e] -= top;
        }
        if (!partita_exponentials(values, PARTITA_GROUP)) {
            break;
        }
        if (is_stored) {
            PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
                *line.out = values[e];
                line.out += line.step;
            }
        }
        PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
            all[e] += values[e];
        }
    }
    PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
        sums[e] = all[e];
    }
    return line.extent - left;
}

static PARTITA_STAGED int32_t store_weights(struct line line, float top, float *sums)
{
    return weigh_groups(line, top, sums, 1);
}

static PARTITA_STAGED int32_t find_weights(struct line line, float top, float *sums)
{
    return weigh_groups(line, top, sums, 0);
}

/* The sum of e^(x - top), each of which is stored if `is_stored`. */
static float weigh(struct line line, float top, int32_t is_stored)
{
    float sums[PARTITA_GROUP] = {0};
    while (line.extent > 0) {
        const int32_t near = is_stored ? store_weights(line, top, sums) : find_weights(line, top, sums);
        line.x += near * line.step;
        line.out += near * line.step;
        line.extent -= near;
        for (int32_t e = 0; e < PARTITA_GROUP && line.extent > 0; e++, line.extent--) {
            const float weight = partita_exp(*line.x - top);
            sums[e] += weight;
            if (is_stored) {
                *line.out = weight;
            }
            line.x += line.step;
            line.out += line.step;
        }
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* Multiplies what is stored. */
static PARTITA_STAGED void scale(struct line line, float factor)
{
    const int32_t step = line.step;
    float *out = line.out;
    for (; line.extent >= PARTITA_GROUP; line.extent -= PARTITA_GROUP) {
        float values[PARTITA_GROUP];
        PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
            values[e] = *line.out;
            line.out += step;
        }
        PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
            values[e] *= factor;
        }
        PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {
            *out = values[e];
            out += step;
        }
    }
    for (; line.extent > 0; line.extent--, out += step) {
        *out *= factor;
    }
}

void partita_softmax_f32(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_softmax *softmax = arguments;
    const struct partita_range share = partita_share(softmax->outer * softmax->inner, 1, core, cores);
    for (int32_t number = share.from; number < share.to; number++) {
        const struct line l = line(softmax, number);
        scale(l, 1.0f / weigh(l, largest(l), 1));
    }
}

void partita_log_softmax_f32(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_softmax *softmax = arguments;
    const struct partita_range share = partita_share(softmax->outer * softmax->inner, 1, core, cores);
    for (int32_t number = share.from; number < share.to; number++) {
        const struct line l = line(softmax, number);
        const float top = largest(l);
        const float logarithm = partita_log(weigh(l, top, 0));
        for (int32_t i = 0; i < l.extent; i++) {
            l.out[i * l.step] = l.x[i * l.step] - top - logarithm;
        }
    }
}
