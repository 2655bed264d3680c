#include "convolution.h"

#include "float_functions.h"
#include "requantized.h"

/* The elements from .. to - 1 of a window's axis that cover data; its first element is at `origin`. */
static inline struct partita_range inside(int32_t origin, int32_t kernel, int32_t dilation, int32_t extent)
{
    struct partita_range range = {0, kernel};
    if (origin < 0) {
        range.from = (-origin + dilation - 1) / dilation;
        range.from = range.from < kernel ? range.from : kernel;
    }
    while (range.to > range.from && origin + (range.to - 1) * dilation >= extent) {
        range.to--;
    }
    return range;
}

/* The number of neighbouring windows whose sums are computed together, where all are inside the data. */
enum { PLACES = 4 };

/* NAME_sum: the sum of one window; NAME_sums: those of PLACES windows. SUM is the accumulator type. */
#define SUMS(NAME, IN, WEIGHT, SUM)                                                                                    \
    static SUM NAME##_sum(const struct partita_convolution *convolution, const IN *x, const WEIGHT *weight, int32_t top, \
                          int32_t left)                                                                                \
    {                                                                                                                  \
        const struct partita_window *window = &convolution->window;                                                    \
        const struct partita_range down = inside(top, window->kernel_y, window->dilation_y, window->height);           \
        const struct partita_range across = inside(left, window->kernel_x, window->dilation_x, window->width);         \
        SUM sum = 0;                                                                                                   \
        for (int32_t c = 0; c < convolution->channels; c++) {                                                          \
            for (int32_t ky = down.from; ky < down.to; ky++) {                                                         \
                const IN *line = x + (top + ky * window->dilation_y) * window->width;                                  \
                for (int32_t kx = across.from; kx < across.to; kx++) {                                                 \
                    sum += (SUM)line[left + kx * window->dilation_x] * (SUM)weight[ky * window->kernel_x + kx];        \
                }                                                                                                      \
            }                                                                                                          \
            x += window->height * window->width;                                                                       \
            weight += window->kernel_y * window->kernel_x;                                                             \
        }                                                                                                              \
        return sum;                                                                                                    \
    }                                                                                                                  \
                                                                                                                       \
    static PARTITA_COMPACT void NAME##_sums(const struct partita_convolution *convolution, const IN *x,                \
                                            const WEIGHT *weight, int32_t top, int32_t left, SUM sums[PLACES])         \
    {                                                                                                                  \
        const struct partita_window *window = &convolution->window;                                                    \
        const struct partita_range down = inside(top, window->kernel_y, window->dilation_y, window->height);           \
        SUM own[PLACES] = {0};                                                                                         \
        x += (top + down.from * window->dilation_y) * window->width + left;                                            \
        weight += down.from * window->kernel_x;                                                                        \
        for (int32_t c = 0; c < convolution->channels; c++) {                                                          \
            const IN *line = x;                                                                                        \
            const WEIGHT *factor = weight;                                                                             \
            for (int32_t ky = down.from; ky < down.to; ky++) {                                                         \
                const IN *at[PLACES];                                                                                  \
                PARTITA_UNROLLED (int32_t i = 0; i < PLACES; i++) {                                                    \
                    at[i] = line + i * window->stride_x;                                                               \
                }                                                                                                      \
                for (int32_t kx = window->kernel_x; kx > 0; kx--) {                                                    \
                    const SUM y = (SUM)*factor;                                                                        \
                    PARTITA_UNROLLED (int32_t i = 0; i < PLACES; i++) {                                                \
                        own[i] += (SUM)*at[i] * y;                                                                     \
                        at[i] += window->dilation_x;                                                                   \
                    }                                                                                                  \
                    factor++;                                                                                          \
                }                                                                                                      \
                line += window->dilation_y * window->width;                                                            \
            }                                                                                                          \
            x += window->height * window->width;                                                                       \
            weight += window->kernel_y * window->kernel_x;                                                             \
        }                                                                                                              \
        PARTITA_UNROLLED (int32_t i = 0; i < PLACES; i++) {                                                            \
            sums[i] = own[i];                                                                                          \
        }                                                                                                              \
    }

/* A row of the result: its start in data and weight, and its filter. */
struct row {
    int32_t filter;
    int32_t x;      /* offset of the group's first plane */
    int32_t weight; /* offset of the filter */
    int32_t top;    /* of the window, on the data */
};

static struct row row_of(const struct partita_convolution *convolution, int32_t number)
{
    const struct partita_window *window = &convolution->window;
    const int32_t filters = convolution->filters;
    const int32_t filter = number / window->out_height % filters;
    const int32_t image = number / window->out_height / filters;
    const int32_t group = filter / (filters / convolution->groups);
    const int32_t plane = (image * convolution->groups + group) * convolution->channels;
    const struct row row = {.filter = filter,
                            .x = plane * window->height * window->width,
                            .weight = filter * convolution->channels * window->kernel_y * window->kernel_x,
                            .top = number % window->out_height * window->stride_y - window->low_y};
    return row;
}

static struct partita_range share_of(const struct partita_convolution *convolution, int32_t core, int32_t cores)
{
    return partita_share(convolution->batch * convolution->filters * convolution->window.out_height, 1, core, cores);
}

/* Whether PLACES windows, from the one of `place`, which begins at `left`, are inside lines of data. */
static inline int32_t are_inside(const struct partita_window *window, int32_t place, int32_t left)
{
    const int32_t last = left + (PLACES - 1) * window->stride_x + (window->kernel_x - 1) * window->dilation_x;
    return place <= window->out_width - PLACES && left >= 0 && last < window->width;
}

/* VALUE converts `sum`, which includes the bias, to an element of type OUT. */
#define ROWS(NAME, SUM_NAME, IN, WEIGHT, SUM, BIAS, ARGUMENTS, OPERATION, OUT, VALUE)                                  \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct ARGUMENTS *operation = arguments;                                                                 \
        const struct partita_convolution *convolution = OPERATION;                                                     \
        const struct partita_window *window = &convolution->window;                                                    \
        const struct partita_range share = share_of(convolution, core, cores);                                         \
        const BIAS *bias = convolution->bias;                                                                          \
        for (int32_t number = share.from; number < share.to; number++) {                                               \
            const struct row row = row_of(convolution, number);                                                        \
            const IN *x = (const IN *)convolution->x + row.x;                                                          \
            const WEIGHT *weight = (const WEIGHT *)convolution->weight + row.weight;                                   \
            OUT *restrict out = (OUT *)convolution->out + number * window->out_width;                                  \
            for (int32_t place = 0; place < window->out_width;) {                                                      \
                const int32_t left = place * window->stride_x - window->low_x;                                         \
                SUM sums[PLACES];                                                                                      \
                int32_t places = 1;                                                                                    \
                if (are_inside(window, place, left)) {                                                                 \
                    places = PLACES;                                                                                   \
                    SUM_NAME##s(convolution, x, weight, row.top, left, sums);                                          \
                } else {                                                                                               \
                    sums[0] = SUM_NAME(convolution, x, weight, row.top, left);                                         \
                }                                                                                                      \
                for (int32_t i = 0; i < places; i++) {                                                                 \
                    const SUM sum = bias == 0 ? sums[i] : sums[i] + (SUM)bias[row.filter];                             \
                    out[place] = (OUT)(VALUE);                                                                         \
                    place++;                                                                                           \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

#define CONVOLUTION(TYPES, IN, WEIGHT, SUM, OUT)                                                                       \
    SUMS(TYPES, IN, WEIGHT, SUM)                                                                                       \
    ROWS(partita_convolution_##TYPES, TYPES##_sum, IN, WEIGHT, SUM, OUT, partita_convolution, operation, OUT, sum)

CONVOLUTION(f32, float, float, float, float)
CONVOLUTION(i8_i8, int8_t, int8_t, uint32_t, int32_t)
CONVOLUTION(u8_i8, uint8_t, int8_t, uint32_t, int32_t)
CONVOLUTION(i32_i8, int32_t, int8_t, uint32_t, int32_t)
CONVOLUTION(i32_i32, int32_t, int32_t, uint32_t, int32_t)

static inline int64_t requantized(const struct partita_convolution_requantize *requantize, int32_t filter, uint32_t sum)
{
    const struct partita_requantized to =
        partita_requantized(requantize->shift, requantize->low, requantize->high);
    return partita_requantize(to, (int32_t)sum, requantize->multiplier[filter * requantize->multiplier_stride],
                              requantize->addend[filter * requantize->addend_stride]);
}

#define CONVOLUTION_REQUANTIZE(TYPES, IN, OUT_TYPE, OUT)                                                               \
    ROWS(partita_convolution_requantize_##TYPES##_##OUT_TYPE, TYPES##_sum, IN, int8_t, uint32_t, int32_t,              \
         partita_convolution_requantize, &operation->convolution, OUT, requantized(operation, row.filter, sum))

CONVOLUTION_REQUANTIZE(i8_i8, int8_t, i8, int8_t)
CONVOLUTION_REQUANTIZE(i8_i8, int8_t, u8, uint8_t)
CONVOLUTION_REQUANTIZE(u8_i8, uint8_t, i8, int8_t)
CONVOLUTION_REQUANTIZE(u8_i8, uint8_t, u8, uint8_t)

#define MAX_POOL(NAME, T, LEAST)                                                                                       \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_max_pool *pool = arguments;                                                               \
        const struct partita_window *window = &pool->window;                                                           \
        const struct partita_range share = partita_share(pool->planes * window->out_height, 1, core, cores);           \
        const T *x = pool->x;                                                                                          \
        for (int32_t row = share.from; row < share.to; row++) {                                                        \
            const int32_t plane = row / window->out_height * window->height * window->width;                           \
            const int32_t top = row % window->out_height * window->stride_y - window->low_y;                           \
            const struct partita_range down = inside(top, window->kernel_y, window->dilation_y, window->height);       \
            for (int32_t place = 0; place < window->out_width; place++) {                                              \
                const int32_t left = place * window->stride_x - window->low_x;                                         \
                const struct partita_range across = inside(left, window->kernel_x, window->dilation_x, window->width); \
                T best = LEAST;                                                                                        \
                int32_t index = -1;                                                                                    \
                for (int32_t ky = down.from; ky < down.to; ky++) {                                                     \
                    const int32_t line = plane + (top + ky * window->dilation_y) * window->width + left;               \
                    for (int32_t kx = across.from; kx < across.to; kx++) {                                             \
                        const int32_t at = line + kx * window->dilation_x;                                             \
                        if (index < 0 || x[at] > best || (x[at] != x[at] && best == best)) {                           \
                            best = x[at];                                                                              \
                            index = at;                                                                                \
                        }                                                                                              \
                    }                                                                                                  \
                }                                                                                                      \
                ((T *)pool->out)[row * window->out_width + place] = best;                                              \
                if (pool->indices != 0) {                                                                              \
                    pool->indices[row * window->out_width + place] = index;                                            \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

MAX_POOL(partita_max_pool_f32, float, -PARTITA_INFINITY)
MAX_POOL(partita_max_pool_i8, int8_t, INT8_MIN)
MAX_POOL(partita_max_pool_u8, uint8_t, 0)
MAX_POOL(partita_max_pool_i32, int32_t, INT32_MIN)

/* The number of a window's elements along an axis that count: those over data, or over data and padding. */
static int32_t counted(int32_t origin, int32_t kernel, int32_t dilation, int32_t extent, int32_t low, int32_t high,
                       int32_t padding)
{
    const struct partita_range range =
        padding ? inside(origin + low, kernel, dilation, extent + low + high) : inside(origin, kernel, dilation, extent);
    return range.to - range.from;
}

static float mean(const struct partita_mean_pool *pool, const float *x, int32_t top, int32_t left)
{
    const struct partita_window *window = &pool->window;
    const struct partita_range down = inside(top, window->kernel_y, window->dilation_y, window->height);
    const struct partita_range across = inside(left, window->kernel_x, window->dilation_x, window->width);
    const int32_t rows = counted(top, window->kernel_y, window->dilation_y, window->height, window->low_y,
                                 window->high_y, pool->count_padding);
    const int32_t columns = counted(left, window->kernel_x, window->dilation_x, window->width, window->low_x,
                                    window->high_x, pool->count_padding);
    float sum = 0;
    for (int32_t ky = down.from; ky < down.to; ky++) {
        for (int32_t kx = across.from; kx < across.to; kx++) {
            sum += x[(top + ky * window->dilation_y) * window->width + left + kx * window->dilation_x];
        }
    }
    return sum / (float)(rows * columns);
}

void partita_mean_pool_f32(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_mean_pool *pool = arguments;
    const struct partita_window *window = &pool->window;
    const struct partita_range share = partita_share(pool->planes * window->out_height, 1, core, cores);
    for (int32_t row = share.from; row < share.to; row++) {
        const float *x = pool->x + row / window->out_height * window->height * window->width;
        const int32_t top = row % window->out_height * window->stride_y - window->low_y;
        float *restrict out = pool->out + row * window->out_width;
        for (int32_t place = 0; place < window->out_width; place++) {
            out[place] = mean(pool, x, top, place * window->stride_x - window->low_x);
        }
    }
}
