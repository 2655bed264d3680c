#include "box.h"

/* A part of a box that takes one transfer or a few: lines that are dense in L1. */
struct lines {
    uint8_t *l1;
    const uint8_t *l2;
    uint32_t count;
    uint32_t bytes;
    uint32_t stride;
};

static struct partita_transfer *next_transfer(struct partita_box *box)
{
    if (box->started - box->waited == PARTITA_BOX_TRANSFERS) {
        partita_transfer_wait(&box->transfers[box->waited % PARTITA_BOX_TRANSFERS]);
        box->waited++;
    }
    return &box->transfers[box->started++ % PARTITA_BOX_TRANSFERS];
}

static void start(struct partita_box *box, int32_t is_load, struct lines lines)
{
    struct partita_transfer *transfer = next_transfer(box);
    /* The L2 address of a store came from a writable pointer. */
    uint8_t *l2 = (uint8_t *)(uintptr_t)lines.l2;
    if (is_load && lines.count == 1) {
        partita_load_start(transfer, lines.l1, l2, lines.bytes);
    } else if (is_load) {
        partita_load_lines_start(transfer, lines.l1, l2, lines.count, lines.bytes, lines.stride);
    } else if (lines.count == 1) {
        partita_store_start(transfer, l2, lines.l1, lines.bytes);
    } else {
        partita_store_lines_start(transfer, l2, lines.l1, lines.count, lines.bytes, lines.stride);
    }
}

/* Lines longer than a transfer are moved one after the other. */
static void start_long(struct partita_box *box, int32_t is_load, struct lines lines)
{
    enum { PIECE = PARTITA_TRANSFER_LIMIT / 16 * 16 };
    for (uint32_t line = 0; line < lines.count; line++) {
        for (uint32_t done = 0; done < lines.bytes; done += PIECE) {
            const uint32_t bytes = lines.bytes - done < PIECE ? lines.bytes - done : PIECE;
            const struct lines piece = {lines.l1 + (size_t)line * lines.bytes + done,
                                        lines.l2 + (size_t)line * lines.stride + done, 1, bytes, bytes};
            start(box, is_load, piece);
        }
    }
}

/* Moves as many lines at a time as a transfer takes. */
static void start_lines(struct partita_box *box, int32_t is_load, struct lines lines)
{
    if (lines.bytes > PARTITA_TRANSFER_LIMIT) {
        start_long(box, is_load, lines);
        return;
    }
    const uint32_t most = PARTITA_TRANSFER_LIMIT / lines.bytes;
    for (uint32_t done = 0; done < lines.count; done += most) {
        const uint32_t count = lines.count - done < most ? lines.count - done : most;
        const struct lines part = {lines.l1 + (size_t)done * lines.bytes, lines.l2 + (size_t)done * lines.stride, count,
                                   lines.bytes, lines.stride};
        start(box, is_load, part);
    }
}

/* Strides may be negative, in bytes from the box's first element. */
static const uint8_t *place(const uint8_t *l2, const struct partita_box_dimension *dimensions, const int32_t *index,
                            int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        l2 += (ptrdiff_t)index[i] * dimensions[i].stride;
    }
    return l2;
}

/* Moves planes of lines by one transfer, if that can move as many bytes. */
static void start_planes(struct partita_box *box, int32_t is_load, struct lines first, struct partita_planes planes)
{
    if ((uint64_t)planes.planes * planes.lines * planes.line_bytes > PARTITA_TRANSFER_LIMIT) {
        for (uint32_t plane = 0; plane < planes.planes; plane++) {
            start_lines(box, is_load, first);
            first.l1 += (size_t)first.count * first.bytes;
            first.l2 += (ptrdiff_t)(int32_t)planes.plane_stride;
        }
        return;
    }
    struct partita_transfer *transfer = next_transfer(box);
    if (is_load) {
        partita_load_planes_start(transfer, first.l1, first.l2, &planes);
    } else {
        /* The L2 address of a store came from a writable pointer. */
        partita_store_planes_start(transfer, (uint8_t *)(uintptr_t)first.l2, first.l1, &planes);
    }
}

static void start_box(struct partita_box *box, int32_t is_load, uint8_t *l1, const uint8_t *l2,
                      const struct partita_box_dimension *dimensions, int32_t count, uint32_t line_bytes)
{
    int32_t index[PARTITA_BOX_DIMENSIONS] = {0};
    while (count > 0 && (dimensions[count - 1].size == 1 || dimensions[count - 1].stride == (int32_t)line_bytes)) {
        line_bytes *= (uint32_t)dimensions[--count].size;
    }
    const struct partita_box_dimension none = {1, 0};
    const struct partita_box_dimension rows = count > 0 ? dimensions[--count] : none;
    const struct partita_box_dimension planes = count > 0 ? dimensions[--count] : none;
    for (int32_t axis = 0; axis >= 0;) {
        const struct lines lines = {l1, place(l2, dimensions, index, count), (uint32_t)rows.size, line_bytes,
                                    (uint32_t)rows.stride};
        const struct partita_planes all = {(uint32_t)planes.size, (uint32_t)planes.stride, (uint32_t)rows.size, line_bytes,
                                           (uint32_t)rows.stride};
        start_planes(box, is_load, lines, all);
        l1 += (size_t)planes.size * (size_t)rows.size * line_bytes;
        axis = count - 1;
        while (axis >= 0 && ++index[axis] == dimensions[axis].size) {
            index[axis--] = 0;
        }
    }
}

/* Most boxes are a line that one transfer moves, which takes no loops. */
static int32_t is_line(int32_t count, uint32_t bytes)
{
    return count == 0 && bytes <= PARTITA_TRANSFER_LIMIT;
}

void partita_box_load_start(struct partita_box *box, uint8_t *l1, const uint8_t *l2,
                            const struct partita_box_dimension *dimensions, int32_t count, uint32_t line_bytes)
{
    if (is_line(count, line_bytes)) {
        partita_load_start(next_transfer(box), l1, l2, line_bytes);
        return;
    }
    start_box(box, 1, l1, l2, dimensions, count, line_bytes);
}

void partita_box_store_start(struct partita_box *box, uint8_t *l2, const uint8_t *l1,
                             const struct partita_box_dimension *dimensions, int32_t count, uint32_t line_bytes)
{
    if (is_line(count, line_bytes)) {
        partita_store_start(next_transfer(box), l2, l1, line_bytes);
        return;
    }
    /* L1 is only read. */
    start_box(box, 0, (uint8_t *)(uintptr_t)l1, l2, dimensions, count, line_bytes);
}

void partita_box_load_lines(struct partita_box *box, uint8_t *l1, const uint8_t *l2, uint32_t count, uint32_t line_bytes,
                            uint32_t stride)
{
    partita_load_lines_start(next_transfer(box), l1, l2, count, line_bytes, stride);
}

void partita_box_store_lines(struct partita_box *box, uint8_t *l2, const uint8_t *l1, uint32_t count,
                             uint32_t line_bytes, uint32_t stride)
{
    partita_store_lines_start(next_transfer(box), l2, l1, count, line_bytes, stride);
}

void partita_box_load_planes(struct partita_box *box, uint8_t *l1, const uint8_t *l2, const struct partita_planes *planes)
{
    partita_load_planes_start(next_transfer(box), l1, l2, planes);
}

void partita_box_store_planes(struct partita_box *box, uint8_t *l2, const uint8_t *l1, const struct partita_planes *planes)
{
    partita_store_planes_start(next_transfer(box), l2, l1, planes);
}

int32_t partita_box_has_room(const struct partita_box *box)
{
    return box->started - box->waited < PARTITA_BOX_TRANSFERS ||
           partita_transfer_ended(&box->transfers[box->waited % PARTITA_BOX_TRANSFERS]);
}

void partita_box_wait(struct partita_box *box)
{
    while (box->waited != box->started) {
        partita_transfer_wait(&box->transfers[box->waited % PARTITA_BOX_TRANSFERS]);
        box->waited++;
    }
}

void partita_clear(uint8_t *l2, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        l2[i] = 0;
    }
}
