/* Transfers between memories, checked against a device's limits. */
#include <stddef.h>

#include "emulated.h"

enum { WAITED_FOR, STARTED = 0x5741 };

static void copy(const struct partita_transfer *transfer)
{
    for (uint32_t plane = 0; plane < transfer->planes; plane++) {
        uint8_t *to = transfer->to + (size_t)plane * transfer->to_plane;
        const uint8_t *from = transfer->from + (size_t)plane * transfer->from_plane;
        for (uint32_t line = 0; line < transfer->lines; line++) {
            __builtin_memcpy(to + (size_t)line * transfer->to_stride, from + (size_t)line * transfer->from_stride,
                             transfer->line_bytes);
        }
    }
}

static void start(struct partita_transfer *transfer, uint64_t *moved)
{
    const uint64_t bytes = (uint64_t)transfer->planes * transfer->lines * transfer->line_bytes;
    if (bytes > PARTITA_TRANSFER_LIMIT) {
        partita_fail("a transfer exceeds the size limit");
    }
    *moved += bytes;
    transfer->id = STARTED;
    if (partita_options.early) {
        copy(transfer);
    }
}

static void finish(struct partita_transfer *transfer)
{
    if (transfer->id != STARTED) {
        partita_fail("a wait for a transfer that isn't in progress");
    }
    transfer->id = WAITED_FOR;
    if (!partita_options.early) {
        copy(transfer);
    }
}

static void verify_l1(const void *l1, uint64_t bytes)
{
    const uint8_t *first = l1;
    if (bytes > 0 && (first < partita_l1 || first + bytes > partita_l1 + PARTITA_L1_BYTES)) {
        partita_fail("a transfer outside L1");
    }
}

void partita_load_planes_start(struct partita_transfer *transfer, void *l1, const void *l2,
                               const struct partita_planes *planes)
{
    const uint32_t plane = planes->lines * planes->line_bytes;
    verify_l1(l1, (uint64_t)planes->planes * plane);
    *transfer = (struct partita_transfer){.to = l1,
                                          .from = l2,
                                          .lines = planes->lines,
                                          .line_bytes = planes->line_bytes,
                                          .to_stride = planes->line_bytes,
                                          .from_stride = planes->line_stride,
                                          .planes = planes->planes,
                                          .to_plane = plane,
                                          .from_plane = planes->plane_stride};
    start(transfer, &partita_moved.l2_l1);
}

void partita_store_planes_start(struct partita_transfer *transfer, void *l2, const void *l1,
                                const struct partita_planes *planes)
{
    const uint32_t plane = planes->lines * planes->line_bytes;
    verify_l1(l1, (uint64_t)planes->planes * plane);
    *transfer = (struct partita_transfer){.to = l2,
                                          .from = l1,
                                          .lines = planes->lines,
                                          .line_bytes = planes->line_bytes,
                                          .to_stride = planes->line_stride,
                                          .from_stride = planes->line_bytes,
                                          .planes = planes->planes,
                                          .to_plane = planes->plane_stride,
                                          .from_plane = plane};
    start(transfer, &partita_moved.l2_l1);
}

void partita_load_lines_start(struct partita_transfer *transfer, void *l1, const void *l2, uint32_t lines,
                              uint32_t line_bytes, uint32_t l2_stride)
{
    const struct partita_planes planes = {1, 0, lines, line_bytes, l2_stride};
    partita_load_planes_start(transfer, l1, l2, &planes);
}

void partita_store_lines_start(struct partita_transfer *transfer, void *l2, const void *l1, uint32_t lines,
                               uint32_t line_bytes, uint32_t l2_stride)
{
    const struct partita_planes planes = {1, 0, lines, line_bytes, l2_stride};
    partita_store_planes_start(transfer, l2, l1, &planes);
}

void partita_load_start(struct partita_transfer *transfer, void *l1, const void *l2, uint32_t bytes)
{
    partita_load_lines_start(transfer, l1, l2, 1, bytes, bytes);
}

void partita_store_start(struct partita_transfer *transfer, void *l2, const void *l1, uint32_t bytes)
{
    partita_store_lines_start(transfer, l2, l1, 1, bytes, bytes);
}

/* What hasn't ended ends when it is awaited, which takes no time. */
int32_t partita_transfer_ended(const struct partita_transfer *transfer)
{
    (void)transfer;
    return 1;
}

void partita_transfer_wait(struct partita_transfer *transfer)
{
    finish(transfer);
}

static void verify_l3(uint32_t address, const void *l2, uint32_t bytes)
{
    if (address % PARTITA_L3_ALIGNMENT != 0 || bytes % PARTITA_L3_ALIGNMENT != 0 ||
        (uintptr_t)l2 % PARTITA_L3_ALIGNMENT != 0) {
        partita_fail("an unaligned transfer with L3");
    }
    if (address > PARTITA_L3_BYTES || bytes > PARTITA_L3_BYTES - address) {
        partita_fail("a transfer outside L3");
    }
}

void partita_fetch_start(struct partita_transfer *transfer, void *l2, uint32_t address, uint32_t bytes)
{
    verify_l3(address, l2, bytes);
    *transfer = (struct partita_transfer){
        .to = l2, .from = partita_l3 + address, .lines = 1, .line_bytes = bytes, .planes = 1};
    start(transfer, &partita_moved.l3_l2);
}

void partita_spill_start(struct partita_transfer *transfer, uint32_t address, const void *l2, uint32_t bytes)
{
    verify_l3(address, l2, bytes);
    *transfer = (struct partita_transfer){
        .to = partita_l3 + address, .from = l2, .lines = 1, .line_bytes = bytes, .planes = 1};
    start(transfer, &partita_moved.l3_l2);
}

void partita_l3_wait(struct partita_transfer *transfer)
{
    finish(transfer);
}
