#include "rotary.h"

/* First features of pairs are `step` apart; their partners are `distance` after them. */
static void rotate(const struct partita_rotary *rotary, int32_t core, int32_t cores, int32_t step, int32_t distance)
{
    const struct partita_range share = partita_share(rotary->heads * rotary->seq, 1, core, cores);
    for (int32_t vector = share.from; vector < share.to; vector++) {
        const int32_t position = vector % rotary->seq;
        const int32_t start = vector / rotary->seq * rotary->head_stride + position * rotary->seq_stride;
        const float *x = rotary->x + start;
        const float *c = rotary->cosines + position * rotary->half;
        const float *s = rotary->sines + position * rotary->half;
        float *out = rotary->out + start;
        for (int32_t i = 0; i < rotary->half; i++) {
            const float a = x[i * step];
            const float b = x[i * step + distance];
            out[i * step] = a * c[i] - b * s[i];
            out[i * step + distance] = b * c[i] + a * s[i];
        }
        for (int32_t i = 2 * rotary->half; i < rotary->d; i++) {
            out[i] = x[i];
        }
    }
}

void partita_rotary_half_f32(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_rotary *rotary = arguments;
    rotate(rotary, core, cores, 1, rotary->half);
}

void partita_rotary_interleaved_f32(const void *arguments, int32_t core, int32_t cores)
{
    rotate(arguments, core, cores, 2, 1);
}
