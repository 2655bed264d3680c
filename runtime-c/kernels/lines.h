/*
 * Walks through the elements from .. to - 1 of a row-major index space, line by line of its last axis, together with
 * up to three operands that step through it with strides of their own: 0 where an operand is broadcast.
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
    /* Of the line: the row-major position of its first element, the operands' offsets there, its elements. */
    int32_t position;
    int32_t offset[3];
    int32_t length;
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
    struct partita_lines lines;
    int32_t rest = range.from;
    lines.extents = extents;
    lines.strides[0] = first;
    lines.strides[1] = second;
    lines.strides[2] = third;
    lines.operands = operands;
    lines.next = range.from;
    lines.end = range.to;
    lines.position = range.from;
    lines.length = 0;
    for (int32_t axis = PARTITA_AXES - 1; axis >= 0; axis--) {
        const int32_t extent = extents[axis] == 0 ? 1 : extents[axis];
        lines.index[axis] = rest % extent;
        rest /= extent;
    }
    for (int32_t i = 0; i < operands; i++) {
        lines.offset[i] = 0;
        for (int32_t axis = 0; axis < PARTITA_AXES; axis++) {
            lines.offset[i] += lines.index[axis] * lines.strides[i][axis];
        }
    }
    return lines;
}

/* To the next line; false when there is none. */
static inline int32_t partita_next_line(struct partita_lines *lines)
{
    const int32_t last = PARTITA_AXES - 1;
    if (lines->length > 0) {
        int32_t axis = last;
        for (int32_t i = 0; i < lines->operands; i++) {
            lines->offset[i] -= lines->index[last] * lines->strides[i][last];
        }
        lines->index[last] = 0;
        while (axis-- > 0) {
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
    if (lines->next >= lines->end) {
        return 0;
    }
    lines->position = lines->next;
    lines->length = lines->extents[last] - lines->index[last];
    if (lines->length > lines->end - lines->next) {
        lines->length = lines->end - lines->next;
    }
    lines->next += lines->length;
    return 1;
}

#endif
