#include "rotary.h"

struct shape {
    int32_t step;     /* from the first feature of a pair to that of the next one */
    int32_t distance; /* to its partner */
};

/* Rotates some pairs of a vector. */
static PARTITA_COMPACT void rotate_pairs(const struct partita_rotary *rotary, struct shape shape, int32_t start,
                                         int32_t angles, struct partita_range pairs)
{
    const float *a = rotary->x + start + pairs.from * shape.step;
    const float *b = a + shape.distance;
    const float *c = rotary->cosines + angles;
    const float *s = rotary->sines + angles;
    float *first = rotary->out + start + pairs.from * shape.step;
    float *second = first + shape.distance;
    for (int32_t i = pairs.from; i < pairs.to; i++) {
        const float x = *a;
        const float y = *b;
        *first = x * c[i] - y * s[i];
        *second = y * c[i] + x * s[i];
        a += shape.step;
        b += shape.step;
        first += shape.step;
        second += shape.step;
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
