/* L3 is a HyperRAM behind the uDMA, whose first channel queues up to 8 transfers and runs them in order. */
#include "siracusa.h"

enum {
    CLOCK_OF_HYPERBUS = 1 << 4,
    RECEIVE_ADDRESS = 0x0,
    RECEIVE_SIZE = 0x4,
    RECEIVE_START = 0x8,
    SEND_ADDRESS = 0xC,
    SEND_SIZE = 0x10,
    SEND_START = 0x14,
    COMMAND = 0x18,
    L3_ADDRESS = 0x1C,
    STATUS = 0x24,
    LINES = 0x28,
    READ = 5,
    WRITE = 1,
    START = 0x14,
    PAGE = 0x0, /* of the common settings */
    LATENCY = 0x4,
    CHIP_SELECT = 0x20,
    NO_PAGES = 4,
    QUEUE = 8
};

/* Values of fields that this memory doesn't use. */
enum { WAITED_FOR, STARTED = 0x5741 };

/* The numbers of started and of known finished transfers, and the last transfer's command. */
static IN_L1 uint32_t started;
static IN_L1 uint32_t finished;
static IN_L1 uint32_t command;

/* The hardware counts unfinished transfers. */
static void look(void)
{
    finished = started - (read_register(HYPERBUS + STATUS) >> 1 & 0xFF);
}

static void verify(uint32_t l3, const void *l2, uint32_t bytes)
{
    if ((l3 | bytes | (uint32_t)(uintptr_t)l2) % PARTITA_L3_ALIGNMENT != 0) {
        partita_fail("an unaligned transfer with L3");
    }
    if (bytes > PARTITA_TRANSFER_LIMIT) {
        partita_fail("a transfer exceeds the size limit");
    }
    if (l3 > PARTITA_L3_BYTES || bytes > PARTITA_L3_BYTES - l3) {
        partita_fail("a transfer outside L3");
    }
}

/* Writing L2's address tells the controller the direction, so this comes right before the start. Writing a
 * register takes over 20 cycles, so unchanged ones aren't written, and the state isn't read until the queue may be full. */
static void start(struct partita_transfer *transfer, int32_t is_fetch, uint32_t l3, const void *l2, uint32_t bytes)
{
    verify(l3, l2, bytes);
    if (bytes > 0) {
        const uint32_t needed = is_fetch ? READ : WRITE;
        while (started - finished >= QUEUE) {
            look();
        }
        __asm__ volatile("" : : : "memory");
        if (command != needed) {
            write_register(HYPERBUS + COMMAND, needed);
            command = needed;
        }
        write_register(HYPERBUS + L3_ADDRESS, l3);
        write_register(HYPERBUS + (is_fetch ? RECEIVE_SIZE : SEND_SIZE), bytes);
        write_register(HYPERBUS + (is_fetch ? RECEIVE_ADDRESS : SEND_ADDRESS), (uint32_t)(uintptr_t)l2);
        write_register(HYPERBUS + (is_fetch ? RECEIVE_START : SEND_START), START);
        started++;
        partita_moved.l3_l2 += bytes;
    }
    transfer->id = (int32_t)started;
    transfer->state = STARTED;
}

void partita_fetch_start(struct partita_transfer *transfer, void *l2, uint32_t l3, uint32_t bytes)
{
    start(transfer, 1, l3, l2, bytes);
}

void partita_spill_start(struct partita_transfer *transfer, uint32_t l3, const void *l2, uint32_t bytes)
{
    start(transfer, 0, l3, l2, bytes);
}

void partita_l3_wait(struct partita_transfer *transfer)
{
    if (transfer->state != STARTED) {
        partita_fail("a wait for a transfer that isn't in progress");
    }
    transfer->state = WAITED_FOR;
    while ((int32_t)(finished - (uint32_t)transfer->id) < 0) {
        look();
    }
    __asm__ volatile("" : : : "memory");
}

/* For a board that doesn't fill the HyperRAM itself. */
static void load_image(void)
{
    enum { PART = 8192 };
    static _Alignas(4) uint8_t part[PART];
    const int32_t file = partita_file_open(".l3", FILE_READ);
    uint32_t l3 = 0;
    uint32_t bytes = file < 0 ? 0 : PART;
    while (bytes == PART) {
        struct partita_transfer transfer;
        bytes = partita_file_read(file, part, PART);
        partita_spill_start(&transfer, l3, part, (bytes + 3) / 4 * 4);
        partita_l3_wait(&transfer);
        l3 += bytes;
    }
    if (file >= 0) {
        partita_file_close(file);
    }
    partita_moved.l3_l2 = 0;
}

void partita_start_l3(void)
{
    write_register(UDMA_CLOCKS, read_register(UDMA_CLOCKS) | CLOCK_OF_HYPERBUS);
    write_register(HYPERBUS_COMMON + PAGE, NO_PAGES);
    write_register(HYPERBUS_COMMON + LATENCY, 0);
    write_register(HYPERBUS_COMMON + CHIP_SELECT, 0);
    write_register(HYPERBUS + LINES, 0);
    if (!PARTITA_BOARD) {
        load_image();
    }
}
