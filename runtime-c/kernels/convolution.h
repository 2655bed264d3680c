/*
 * Convolutions and pooling over two spatial dimensions; one dimension is two with a height of 1.
 *
 * The window's element (ky, kx) at place (y, x) covers the data's element (y stride_y - low_y + ky dilation_y, ...);
 * elements outside the tile are padding. For a tile of a larger operand, low and the data's extents are those of the
 * tile.
 */
#ifndef PARTITA_CONVOLUTION_H
#define PARTITA_CONVOLUTION_H

#include "kernel.h"

struct partita_window {
    int32_t height; /* of the data */
    int32_t width;
    int32_t out_height;
    int32_t out_width;
    int32_t kernel_y;
    int32_t kernel_x;
    int32_t stride_y;
    int32_t stride_x;
    int32_t dilation_y;
    int32_t dilation_x;
    int32_t low_y;
    int32_t low_x;
    int32_t high_y; /* padding after the last; of interest where it counts in a mean */
    int32_t high_x;
};

/*
 * out[b, f, y, x] = sum over c, ky, kx of x[b, g channels + c, ...] weight[f, c, ky, kx], then + bias[f], where g is
 * the group of filter f; depthwise means as many groups as channels. Sums are in the order of c, ky, kx and skip
 * padding. Cores divide the places of the result, in blocks of four filters of a group, or of one where fewer are left.
 *
 * Where x and weight are bytes, products are faster with `windows`: each core gathers the data under four windows there,
 * and multiplies all filters of a group by them. Cores divide the blocks of four windows, and at most `parts` of them
 * take any. Filters of one channel, fewer than four in a group, with at most 8 rows of at most 4 adjacent elements, don't
 * need it: they are multiplied by four elements of a line at a time.
 *
 * f32: exact; contracted, within 2 channels kernel_y kernel_x u of the sum of magnitudes. Integers: i32 sums wrap;
 * exact.
 */
struct partita_convolution {
    const void *x;      /* [batch, groups channels, height, width] */
    const void *weight; /* [filters, channels, kernel_y, kernel_x] */
    const void *bias;   /* [filters] of out's type, or null */
    void *out;          /* [batch, filters, out_height, out_width] f32 or i32 */
    void *windows;      /* i32 [parts, 4, (channels kernel_y kernel_x + 3) / 4] to work in, or null */
    struct partita_window window;
    int32_t batch;
    int32_t groups;
    int32_t channels; /* of a group */
    int32_t filters;  /* of all groups */
    int32_t parts;    /* of windows */
};

partita_kernel partita_convolution_f32, partita_convolution_i8_i8, partita_convolution_u8_i8,
    partita_convolution_i32_i8, partita_convolution_i32_i32;

/*
 * The same, fused with requantisation to 8 bits: out = clamp(((sum + bias[f]) multiplier[f] + addend[f] + 2^shift /
 * 2) >> shift, low, high), where strides of 0 share one multiplier and addend. Exact: equals convolution and
 * requantize of the graph.
 */
struct partita_convolution_requantize {
    struct partita_convolution convolution; /* bias i32; out i8 or u8 */
    const int32_t *multiplier;
    const int32_t *addend;
    int32_t multiplier_stride;
    int32_t addend_stride;
    int32_t shift; /* from 0 to 62 */
    int32_t low;
    int32_t high;
};

/* partita_convolution_requantize_X_WEIGHT_OUT */
partita_kernel partita_convolution_requantize_i8_i8_i8, partita_convolution_requantize_i8_i8_u8,
    partita_convolution_requantize_u8_i8_i8, partita_convolution_requantize_u8_i8_u8;

/*
 * The largest element under the window for each of `planes` planes, the first of equal ones, and NaN if there is one;
 * over padding alone the smallest value of the type. Indices, if not null, get its row-major position in all planes
 * of x, or -1. Cores divide the rows of the result. Exact.
 */
struct partita_max_pool {
    const void *x;    /* [planes, height, width] */
    void *out;        /* [planes, out_height, out_width] */
    int64_t *indices; /* as out, or null */
    struct partita_window window;
    int32_t planes;
};

partita_kernel partita_max_pool_f32, partita_max_pool_i8, partita_max_pool_u8, partita_max_pool_i32;

/*
 * The mean of the elements under the window; with count_padding, low and high padding count as zeros. Sums in
 * row-major order: within (kernel_y kernel_x + 1) u of the mean magnitude. Cores divide the rows of the result.
 */
struct partita_mean_pool {
    const float *x; /* [planes, height, width] */
    float *out;     /* [planes, out_height, out_width] */
    struct partita_window window;
    int32_t planes;
    int32_t count_padding;
};

partita_kernel partita_mean_pool_f32;

#endif
