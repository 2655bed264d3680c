#include "convolution_window.h"
#include "float_functions.h"

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
