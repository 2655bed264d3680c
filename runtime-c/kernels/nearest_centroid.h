/*
 * The nearest centroid of each group of features, in one call or in tiles of centroids, since the least distance is
 * carried from tile to tile.
 *
 * A distance is the sum of (x - centroid)^2 in the order of the features. The index is the first with the least
 * distance, counted from the first tile; distances that are NaN are never the least, and without another one the index
 * is 0. The first tile initialises distances and indices. Exact, also where compilers contract. Cores divide (row, group).
 */
#ifndef PARTITA_NEAREST_CENTROID_H
#define PARTITA_NEAREST_CENTROID_H

#include "kernel.h"

struct partita_nearest_centroid {
    const float *x;         /* [rows, groups, width] */
    const float *centroids; /* [groups, size, width] */
    float *distances;       /* [rows, groups], the least so far */
    int32_t *out;           /* [rows, groups] */
    int32_t rows;
    int32_t groups;
    int32_t size;
    int32_t width;
    int32_t start; /* the index of the tile's first centroid */
    int32_t first; /* 1 for the first tile of centroids */
    int32_t more;  /* 1 if another tile follows, which reads the distances */
};

partita_kernel partita_nearest_centroid_f32;

#endif
