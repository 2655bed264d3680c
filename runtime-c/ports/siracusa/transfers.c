/*
 * L2 <-> L1 by the cluster's DMA. Its 16 identifiers are reclaimed from finished transfers that haven't been awaited.
 */
#include "siracusa.h"

enum {
    COMMAND = 0,
    STATUS = 4, /* which identifiers' transfers go on, in the low half; writing frees identifiers */
    TO_L1 = 1 << 17,
    INCREMENT = 1 << 18,
    LINES = 1 << 19,
    IDENTIFIERS = 16,
    DONE = -1,
    WAITED_FOR = -2
};

static IN_L1 struct partita_transfer *owners[IDENTIFIERS];
static IN_L1 uint32_t taken;

/* Bytes, as far as partita_traffic hasn't counted them: less than 2^32. */
static IN_L1 uint32_t moved;

void partita_count_transfers(struct partita_traffic *traffic)
{
    traffic->l2_l1 += moved;
    moved = 0;
}

PARTITA_INLINE void free_identifier(uint32_t id)
{
    write_register(DMA + STATUS, 1u << id);
    owners[id] = 0;
    taken &= ~(1u << id);
}

/* A command without a free identifier would block this core forever. */
static void free_one(void)
{
    for (;;) {
        const uint32_t busy = read_register(DMA + STATUS);
        for (uint32_t id = 0; id < IDENTIFIERS; id++) {
            if ((busy >> id & 1) == 0) {
                owners[id]->id = DONE;
                free_identifier(id);
                return;
            }
        }
    }
}

static __attribute__((noinline, cold, noreturn)) void refuse(uint32_t bytes)
{
    partita_fail(bytes > PARTITA_TRANSFER_LIMIT ? "a transfer exceeds the size limit" : "a transfer outside L1");
}

/* Checks a transfer, and returns whether an identifier is free. */
PARTITA_INLINE int32_t verify(const uint8_t *l1, uint32_t bytes)
{
    const uint32_t at = (uint32_t)(l1 - partita_l1);
    if (bytes > PARTITA_TRANSFER_LIMIT || at > PARTITA_L1_BYTES || bytes > PARTITA_L1_BYTES - at) {
        refuse(bytes);
    }
    return taken != (1u << IDENTIFIERS) - 1;
}

PARTITA_INLINE void take_free_identifier(struct partita_transfer *transfer, uint32_t bytes)
{
    const uint32_t id = read_register(DMA + COMMAND);
    owners[id] = transfer;
    taken |= 1u << id;
    transfer->id = (int32_t)id;
    moved += bytes;
    __asm__ volatile("" : : : "memory");
}

static void take_identifier(struct partita_transfer *transfer, const uint8_t *l1, uint32_t bytes)
{
    if (!verify(l1, bytes)) {
        free_one();
    }
    take_free_identifier(transfer, bytes);
}

static inline void command(uint32_t direction, const uint8_t *l1, const uint8_t *l2, uint32_t lines,
                           uint32_t line_bytes, uint32_t stride)
{
    const uint32_t is_strided = lines > 1 && stride != line_bytes;
    write_register(DMA + COMMAND, lines * line_bytes | direction | INCREMENT | (is_strided ? LINES : 0));
    write_register(DMA + COMMAND, (uint32_t)(uintptr_t)l1);
    write_register(DMA + COMMAND, (uint32_t)(uintptr_t)l2);
    if (is_strided) {
        write_register(DMA + COMMAND, line_bytes);
        write_register(DMA + COMMAND, stride);
    }
}

static void start(struct partita_transfer *transfer, uint32_t direction, const uint8_t *l1, const uint8_t *l2,
                  uint32_t lines, uint32_t line_bytes, uint32_t stride)
{
    const uint32_t bytes = lines * line_bytes;
    if (bytes == 0) {
        transfer->id = DONE;
        return;
    }
    take_identifier(transfer, l1, bytes > line_bytes ? bytes : line_bytes);
    command(direction, l1, l2, lines, line_bytes, stride);
}

/* Most transfers are single lines, and short loops wait while they are started: so this is one function. */
static void start_line(struct partita_transfer *transfer, uint32_t direction, const uint8_t *l1, const uint8_t *l2,
                       uint32_t bytes)
{
    if (bytes == 0) {
        transfer->id = DONE;
        return;
    }
    if (!verify(l1, bytes)) {
        start(transfer, direction, l1, l2, 1, bytes, bytes);
        return;
    }
    take_free_identifier(transfer, bytes);
    write_register(DMA + COMMAND, bytes | direction | INCREMENT);
    write_register(DMA + COMMAND, (uint32_t)(uintptr_t)l1);
    write_register(DMA + COMMAND, (uint32_t)(uintptr_t)l2);
}

/* Commands that follow each other have one identifier. */
static void start_planes(struct partita_transfer *transfer, uint32_t direction, const uint8_t *l1, const uint8_t *l2,
                         const struct partita_planes *planes)
{
    const uint32_t bytes = planes->lines * planes->line_bytes;
    if (planes->planes * bytes == 0) {
        transfer->id = DONE;
        return;
    }
    take_identifier(transfer, l1, planes->planes * bytes);
    for (uint32_t plane = 0; plane < planes->planes; plane++) {
        command(direction, l1, l2, planes->lines, planes->line_bytes, planes->line_stride);
        l1 += bytes;
        l2 += planes->plane_stride;
    }
}

void partita_copy_to_l1(void *l1, const void *l2, uint32_t bytes)
{
    if (taken == (1u << IDENTIFIERS) - 1) {
        free_one();
    }
    __asm__ volatile("" : : : "memory");
    const uint32_t id = read_register(DMA + COMMAND);
    write_register(DMA + COMMAND, bytes | TO_L1 | INCREMENT);
    write_register(DMA + COMMAND, (uint32_t)(uintptr_t)l1);
    write_register(DMA + COMMAND, (uint32_t)(uintptr_t)l2);
    while ((read_register(DMA + STATUS) >> id & 1) != 0) {
    }
    write_register(DMA + STATUS, 1u << id);
    __asm__ volatile("" : : : "memory");
}

void partita_load_lines_start(struct partita_transfer *transfer, void *l1, const void *l2, uint32_t lines,
                              uint32_t line_bytes, uint32_t l2_stride)
{
    start(transfer, TO_L1, l1, l2, lines, line_bytes, l2_stride);
}

void partita_store_lines_start(struct partita_transfer *transfer, void *l2, const void *l1, uint32_t lines,
                               uint32_t line_bytes, uint32_t l2_stride)
{
    start(transfer, 0, l1, l2, lines, line_bytes, l2_stride);
}

void partita_load_planes_start(struct partita_transfer *transfer, void *l1, const void *l2,
                               const struct partita_planes *planes)
{
    start_planes(transfer, TO_L1, l1, l2, planes);
}

void partita_store_planes_start(struct partita_transfer *transfer, void *l2, const void *l1,
                                const struct partita_planes *planes)
{
    start_planes(transfer, 0, l1, l2, planes);
}

void partita_load_start(struct partita_transfer *transfer, void *l1, const void *l2, uint32_t bytes)
{
    start_line(transfer, TO_L1, l1, l2, bytes);
}

void partita_store_start(struct partita_transfer *transfer, void *l2, const void *l1, uint32_t bytes)
{
    start_line(transfer, 0, l1, l2, bytes);
}

int32_t partita_transfer_ended(const struct partita_transfer *transfer)
{
    return transfer->id == DONE || (read_register(DMA + STATUS) >> transfer->id & 1) == 0;
}

static __attribute__((noinline, cold, noreturn)) void refuse_wait(void)
{
    partita_fail("a wait for a transfer that isn't in progress");
}

void partita_transfer_wait(struct partita_transfer *transfer)
{
    const uint32_t id = (uint32_t)transfer->id;
    transfer->id = WAITED_FOR;
    if (id != (uint32_t)DONE) {
        if (id >= IDENTIFIERS || owners[id] != transfer) {
            refuse_wait();
        }
        while ((read_register(DMA + STATUS) >> id & 1) != 0) {
        }
        free_identifier(id);
    }
    __asm__ volatile("" : : : "memory");
}
