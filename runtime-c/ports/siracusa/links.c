/*
 * Links to other chips, through the controller of the board (targets/gvsoc): it takes message descriptors, moves
 * messages between the L2 of two chips concurrently with the cores, and counts finished ones. Messages between two
 * chips finish in order, so the count identifies them.
 */
#include "siracusa.h"

enum { MAX_CHIPS = 64 };

/* Registers for each other chip. */
enum {
    PEERS = 0x400,
    PEER_BYTES = 0x20,
    SEND_ADDRESS = 0x0,
    SEND = 0x4, /* bytes; what is written starts a message */
    RECEIVE_ADDRESS = 0x8,
    RECEIVE = 0xC, /* likewise */
    SENT = 0x10,
    RECEIVED = 0x14
};

/* Messages to and from another chip so far, and bytes to it. */
static IN_L1 struct {
    uint32_t sends;
    uint32_t receives;
    uint64_t sent;
} peers[MAX_CHIPS];

static __attribute__((noinline, cold, noreturn)) void refuse(void)
{
    partita_fail("a message to or from a chip that doesn't exist");
}

/*
 * The registers for another chip. A chip waits for each message that is started: so this is a part of the functions that do
 * that, though they are compiled for size.
 */
static inline __attribute__((always_inline)) uint32_t verified_registers_of(int32_t chip)
{
    if (!PARTITA_BOARD || (uint32_t)chip >= (uint32_t)partita_board.chips || chip == partita_board.chip) {
        refuse();
    }
    return BOARD + PEERS + PEER_BYTES * (uint32_t)chip;
}

/* The message's data is the register that counts it when it has ended. */
void partita_send_start(struct partita_message *message, int32_t chip, const void *l2, uint32_t bytes)
{
    const uint32_t registers = verified_registers_of(chip);
    __asm__ volatile("" : : : "memory");
    write_register(registers + SEND_ADDRESS, (uint32_t)(uintptr_t)l2);
    write_register(registers + SEND, bytes);
    message->data = (uint8_t *)(uintptr_t)(registers + SENT);
    message->done = ++peers[chip].sends;
    partita_moved.sent += bytes;
    peers[chip].sent += bytes;
}

void partita_receive_start(struct partita_message *message, int32_t chip, void *l2, uint32_t bytes)
{
    const uint32_t registers = verified_registers_of(chip);
    __asm__ volatile("" : : : "memory");
    write_register(registers + RECEIVE_ADDRESS, (uint32_t)(uintptr_t)l2);
    write_register(registers + RECEIVE, bytes);
    message->data = (uint8_t *)(uintptr_t)(registers + RECEIVED);
    message->done = ++peers[chip].receives;
    partita_moved.received += bytes;
}

static inline int32_t has_ended(const struct partita_message *message)
{
    return (int32_t)(read_register((uint32_t)(uintptr_t)message->data) - message->done) >= 0;
}

int32_t partita_message_ended(struct partita_message *message)
{
    return has_ended(message);
}

void partita_message_wait(struct partita_message *message)
{
    while (!has_ended(message)) {
    }
    __asm__ volatile("" : : : "memory");
}

void partita_print_links(void)
{
    const char *separator = "";
    partita_print("{");
    for (int32_t chip = 0; chip < MAX_CHIPS; chip++) {
        if (peers[chip].sent > 0) {
            partita_print(separator);
            partita_print("\"");
            partita_print_number((uint64_t)chip);
            partita_print("\": ");
            partita_print_number(peers[chip].sent);
            separator = ", ";
        }
    }
    partita_print("}");
}
