#include "rotary.h"

struct shape {
    int32_t step;     /* from the first feature of a pair to that of the next one */
    int32_t distance; /* to its partner */
};

/* Rotates `count` pairs, a constant: each step for all of them, as a unit of floats takes some cycles. */
PARTITA_INLINE void rotate_some(const float *a, float *out, const float *c, const float *s, struct shape shape,
                                int32_t count)
{
    float x[PARTITA_GROUP];
    float y[PARTITA_GROUP];
    float cosines[PARTITA_GROUP];
    float sines[PARTITA_GROUP];
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        x[i] = a[i * shape.step];
        y[i] = a[i * shape.step + shape.distance];
        cosines[i] = c[i];
        sines[i] = s[i];
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        const float first = x[i] * cosines[i] - y[i] * sines[i];
        y[i] = y[i] * cosines[i] + x[i] * sines[i];
        x[i] = first;
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        out[i * shape.step] = x[i];
        out[i * shape.step + shape.distance] = y[i];
    }
}

/* Rotates some pairs of a vector. */
static PARTITA_STAGED void rotate_pairs(const struct partita_rotary *rotary, struct shape shape, int32_t start,
                                        int32_t angles, struct partita_range pairs)
{
    const float *a = rotary->x + start + pairs.from * shape.step;
    float *out = rotary->out + start + pairs.from * shape.step;
    const float *c = rotary->cosines + angles + pairs.from;
    const float *s = rotary->sines + angles + pairs.from;
    int32_t left = pairs.to - pairs.from;
    for (; left >= PARTITA_GROUP; left -= PARTITA_GROUP) {
        rotate_some(a, out, c, s, shape, PARTITA_GROUP);
        a += PARTITA_GROUP * shape.step;
        out += PARTITA_GROUP * shape.step;
        c += PARTITA_GROUP;
        s += PARTITA_GROUP;
    }
    for (; left > 0; left--) {
        rotate_some(a, out, c++, s++, shape, 1);
        a += shape.step;
        out += shape.step;
    }
}

static PARTITA_COMPACT void rotate(const struct partita_rotary *rotary, int32_t core, int32_t cores, struct shape shape)
{
    const int32_t vectors = rotary->heads * rotary->seq;
    struct partita_range share = {0, vectors};
    struct partita_range pairs = {0, rotary->half};
    int32_t copies = 1;
    if (vectors < cores) {
        pairs = partita_share(rotary->half, 1, core, cores);
        copies = core == 0;
    } else {
        share = partita_share(vectors, 1, core, cores);
    }
    int32_t head = share.from == 0 ? 0 : share.from / rotary->seq;
    int32_t position = share.from - head * rotary->seq;
    for (int32_t vector = share.from; vector < share.to; vector++) {
        const int32_t start = head * rotary->head_stride + position * rotary->seq_stride;
        rotate_pairs(rotary, shape, start, position * rotary->half, pairs);
        for (int32_t i = 2 * rotary->half; copies && i < rotary->d; i++) {
            rotary->out[start + i] = rotary->x[start + i];
        }
        if (++position == rotary->seq) {
            position = 0;
            head++;
        }
    }
}

void partita_rotary_half_f32(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_rotary *rotary = arguments;
    rotate(rotary, core, cores, (struct shape){1, rotary->half});
}

void partita_rotary_interleaved_f32(const void *arguments, int32_t core, int32_t cores)
{
    rotate(arguments, core, cores, (struct shape){2, 1});
}
