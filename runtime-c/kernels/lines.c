#include "lines.h"

int32_t partita_elements(const int32_t extents[PARTITA_AXES])
{
    int32_t elements = 1;
    for (int32_t axis = 0; axis < PARTITA_AXES; axis++) {
        elements *= extents[axis];
    }
    return elements;
}

struct partita_range partita_share_of(const int32_t extents[PARTITA_AXES], int32_t core, int32_t cores)
{
    return partita_share(partita_elements(extents), 8, core, cores);
}

/* Most lines are a kernel's only ones, so that beginning takes as long as they do: field by field, as memset takes a call. */
PARTITA_COMPACT struct partita_lines partita_lines(const int32_t *extents, struct partita_range range, int32_t operands,
                                                   const int32_t *first, const int32_t *second, const int32_t *third)
{
    const int32_t last = PARTITA_AXES - 1;
    struct partita_lines lines;
    int32_t rest = range.from;
    lines.extents = extents;
    lines.strides[0] = first;
    lines.strides[1] = second;
    lines.strides[2] = third;
    lines.operands = operands;
    lines.next = range.from;
    lines.end = range.to;
    lines.position = -1;
    PARTITA_UNROLLED (int32_t axis = 0; axis < PARTITA_AXES; axis++) {
        lines.index[axis] = 0;
    }
    PARTITA_UNROLLED (int32_t i = 0; i < 3; i++) {
        lines.offset[i] = 0;
    }
    /* Most axes have one index, and a division takes longer than a few elements do. */
    for (int32_t axis = last; rest > 0 && range.from < range.to; axis--) {
        const int32_t extent = extents[axis];
        const int32_t above = rest < extent ? 0 : extent == 1 ? rest : rest / extent;
        const int32_t index = rest - above * extent;
        lines.index[axis] = index;
        for (int32_t i = 0; axis < last && index > 0 && i < operands; i++) {
            lines.offset[i] += index * lines.strides[i][axis];
        }
        rest = above;
    }
    lines.first = lines.index[last];
    return lines;
}

/* Takes a step along an axis, or back to its first index; returns whether it went back. */
PARTITA_INLINE int32_t step_along(struct partita_lines *lines, int32_t axis)
{
    const int32_t extent = lines->extents[axis];
    const int32_t index = lines->index[axis] + 1;
    const int32_t is_end = index == extent;
    const int32_t steps = is_end ? 1 - extent : 1;
    lines->index[axis] = is_end ? 0 : index;
    lines->offset[0] += steps * lines->strides[0][axis];
    if (lines->operands > 1) {
        lines->offset[1] += steps * lines->strides[1][axis];
    }
    if (lines->operands > 2) {
        lines->offset[2] += steps * lines->strides[2][axis];
    }
    return is_end;
}

static PARTITA_COMPACT void step_along_outer_axes(struct partita_lines *lines)
{
    int32_t axis = PARTITA_AXES - 3;
    while (axis >= 0 && step_along(lines, axis)) {
        axis--;
    }
}

PARTITA_COMPACT int32_t partita_next_line(struct partita_lines *lines)
{
    if (lines->next >= lines->end) {
        return 0;
    }
    if (lines->position >= 0) {
        lines->first = 0;
        if (step_along(lines, PARTITA_AXES - 2)) {
            step_along_outer_axes(lines);
        }
    }
    const int32_t whole = lines->extents[PARTITA_AXES - 1] - lines->first;
    const int32_t rest = lines->end - lines->next;
    lines->position = lines->next;
    lines->length = rest < whole ? rest : whole;
    lines->next += lines->length;
    return 1;
}
