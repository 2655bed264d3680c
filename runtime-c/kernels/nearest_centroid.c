#include "nearest_centroid.h"

#include "float_functions.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* Centroids whose distances are summed at the same time, each in the order of the features. */
#define TOGETHER 4

PARTITA_UNCONTRACTED static inline float squared_distance(const float *x, const float *centroid, int32_t width)
{
    float sum = 0;
    for (int32_t j = 0; j < width; j++) {
        const float difference = x[j] - centroid[j];
        sum += difference * difference;
    }
    return sum;
}

PARTITA_UNCONTRACTED void partita_nearest_centroid_f32(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_nearest_centroid *nearest = arguments;
    const int32_t groups = nearest->groups;
    const int32_t size = nearest->size;
    const int32_t width = nearest->width;
    const struct partita_range share = partita_share(nearest->rows * groups, 1, core, cores);
    for (int32_t i = share.from; i < share.to; i++) {
        const float *x = nearest->x + i * width;
        const float *centroid = nearest->centroids + i % groups * size * width;
        float least = nearest->first ? PARTITA_INFINITY : nearest->distances[i];
        int32_t index = nearest->first ? 0 : nearest->out[i];
        int32_t k = 0;
        for (; k + TOGETHER <= size; k += TOGETHER, centroid += TOGETHER * width) {
            float sums[TOGETHER] = {0};
            for (int32_t j = 0; j < width; j++) {
                for (int32_t each = 0; each < TOGETHER; each++) {
                    const float difference = x[j] - centroid[each * width + j];
                    sums[each] += difference * difference;
                }
            }
            for (int32_t each = 0; each < TOGETHER; each++) {
                if (sums[each] < least) {
                    least = sums[each];
                    index = nearest->start + k + each;
                }
            }
        }
        for (; k < size; k++, centroid += width) {
            const float distance = squared_distance(x, centroid, width);
            if (distance < least) {
                least = distance;
                index = nearest->start + k;
            }
        }
        if (nearest->more) {
            nearest->distances[i] = least;
        }
        nearest->out[i] = index;
    }
}
