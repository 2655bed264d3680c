/* Windows at the ends of lines of data, for convolutions and pools. */
#ifndef PARTITA_CONVOLUTION_WINDOW_H
#define PARTITA_CONVOLUTION_WINDOW_H

#include "convolution.h"

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

#endif
