#include "lines.h"

int32_t partita_elements(const int32_t extents[PARTITA_AXES])
{
    int32_t elements = 1;
    for (int32_t axis = 0; axis < PARTITA_AXES; axis++) {
        elements *= extents[axis];
    }
    return elements;
}

struct partita_range partita_share_of(const int32_t extents[PARTITA_AXES], int32_t block, int32_t core, int32_t cores)
{
    return partita_share(partita_elements(extents), block, core, cores);
}

struct partita_lines partita_lines(const int32_t *extents, struct partita_range range, int32_t operands,
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
        const int32_t extent = extents[axis];
        if (extent == 1) {
            continue;
        }
        if (rest < extent) {
            lines.index[axis] = rest;
            break;
        }
        lines.index[axis] = rest % extent;
        rest /= extent;
    }
    lines.first = lines.index[PARTITA_AXES - 1];
    for (int32_t axis = 0; axis < PARTITA_AXES - 1; axis++) {
        const int32_t index = lines.index[axis];
        for (int32_t i = 0; i < operands && index > 0; i++) {
            lines.offset[i] += index * lines.strides[i][axis];
        }
    }
    return lines;
}

int32_t partita_next_line(struct partita_lines *lines)
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
