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

static float largest(struct line line)
{
    float largest = -PARTITA_INFINITY;
    for (int32_t i = 0; i < line.extent; i++) {
        const float x = line.x[i * line.step];
        largest = x > largest || x != x ? x : largest;
    }
    return largest;
}

void partita_softmax_f32(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_softmax *softmax = arguments;
    const struct partita_range share = partita_share(softmax->outer * softmax->inner, 1, core, cores);
    for (int32_t number = share.from; number < share.to; number++) {
        const struct line l = line(softmax, number);
        const float top = largest(l);
        float sum = 0;
        for (int32_t i = 0; i < l.extent; i++) {
            const float exponential = partita_exp_of_negative(l.x[i * l.step] - top);
            l.out[i * l.step] = exponential;
            sum += exponential;
        }
        const float inverse = 1.0f / sum;
        for (int32_t i = 0; i < l.extent; i++) {
            l.out[i * l.step] *= inverse;
        }
    }
}

void partita_log_softmax_f32(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_softmax *softmax = arguments;
    const struct partita_range share = partita_share(softmax->outer * softmax->inner, 1, core, cores);
    for (int32_t number = share.from; number < share.to; number++) {
        const struct line l = line(softmax, number);
        const float top = largest(l);
        float sum = 0;
        for (int32_t i = 0; i < l.extent; i++) {
            sum += partita_exp_of_negative(l.x[i * l.step] - top);
        }
        const float logarithm = partita_log(sum);
        for (int32_t i = 0; i < l.extent; i++) {
            l.out[i * l.step] = l.x[i * l.step] - top - logarithm;
        }
    }
}
