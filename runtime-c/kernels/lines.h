/*
 * Iterates over the elements from .. to - 1 of a row-major index space, one line of its last axis at a time, together
 * with up to three operands with their own strides: 0 where an operand is broadcast.
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

static inline int32_t partita_elements(const int32_t extents[PARTITA_AXES])
{
    int32_t elements = 1;
    for (int32_t axis = 0; axis < PARTITA_AXES; axis++) {
        elements *= extents[axis];
    }
    return elements;
}

static inline struct partita_lines partita_lines(const int32_t *extents, struct partita_range range, int32_t operands,
                                                 const int32_t *first, const int32_t *second, const int32_t *third)
{
    struct partita_lines lines = {.extents = extents,
                                  .strides = {first, second, third},
                                  .operands = operands,
                                  .next = range.from,
                                  .end = range.to,
                                  .position = -1};
    int32_t rest = range.from;
    if (range.from >= range.to) {
        return lines;
    }
    /* Most axes have one index, and a division takes longer than a few elements do. */
    for (int32_t axis = PARTITA_AXES - 1; axis >= 0 && rest > 0; axis--) {
        if (extents[axis] > 1) {
            lines.index[axis] = rest % extents[axis];
            rest /= extents[axis];
        }
    }
    lines.first = lines.index[PARTITA_AXES - 1];
    for (int32_t i = 0; i < operands; i++) {
        for (int32_t axis = 0; axis < PARTITA_AXES - 1; axis++) {
            lines.offset[i] += lines.index[axis] * lines.strides[i][axis];
        }
    }
    return lines;
}

/* Advances to the next part of a line; false if there is none. */
static inline int32_t partita_next_line(struct partita_lines *lines)
{
    const int32_t last = PARTITA_AXES - 1;
    if (lines->next >= lines->end) {
        return 0;
    }
    if (lines->position >= 0) {
        lines->first = 0;
        for (int32_t axis = last - 1; axis >= 0; axis--) {
            lines->index[axis]++;
            for (int32_t i = 0; i < lines->operands; i++) {
                lines->offset[i] += lines->strides[i][axis];
            }
            if (lines->index[axis] < lines->extents[axis]) {
                break;
            }
            for (int32_t i = 0; i < lines->operands; i++) {
                lines->offset[i] -= lines->extents[axis] * lines->strides[i][axis];
            }
            lines->index[axis] = 0;
        }
    }
    lines->position = lines->next;
    lines->length = lines->extents[last] - lines->first;
    if (lines->length > lines->end - lines->next) {
        lines->length = lines->end - lines->next;
    }
    lines->next += lines->length;
    return 1;
}

#endif
