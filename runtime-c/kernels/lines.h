/*
 * Iterates over the elements from .. to - 1 of a row-major index space, one line of its last axis at a time, together
 * with up to three operands with their own strides: 0 where an operand is broadcast. All kernels share these functions,
 * which thus stay in the instruction cache.
 */
#ifndef PARTITA_LINES_H
#define PARTITA_LINES_H

#include "kernel.h"

struct partita_lines {
    const int32_t *extents;
    const int32_t *strides[3];
    int32_t operands;
    int32_t index[PARTITA_AXES];
    int32_t next;
    int32_t end;
    /* The part of a line: the row-major position of its first element, and that element's index in the line; */
    int32_t position;
    int32_t first;
    int32_t length;
    /* the offset of the whole line's start, for each operand. */
    int32_t offset[3];
};

/* The number of elements. */
int32_t partita_elements(const int32_t extents[PARTITA_AXES]);

/* A core's part of the elements, in blocks of 8. */
struct partita_range partita_share_of(const int32_t extents[PARTITA_AXES], int32_t core, int32_t cores);

/* The lines of a range: null for operands that there aren't. */
struct partita_lines partita_lines(const int32_t *extents, struct partita_range range, int32_t operands,
                                   const int32_t *first, const int32_t *second, const int32_t *third);

/* Advances to the next part of a line; false if there is none. */
int32_t partita_next_line(struct partita_lines *lines);

#endif
