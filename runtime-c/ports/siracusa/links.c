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

static IN_L1 uint32_t sends[MAX_CHIPS];
static IN_L1 uint32_t receives[MAX_CHIPS];
static IN_L1 uint64_t sent[MAX_CHIPS];

static uint32_t registers_of(int32_t chip)
{
    return BOARD + PEERS + PEER_BYTES * (uint32_t)chip;
}

static void verify(int32_t chip)
{
    if (!PARTITA_BOARD || chip < 0 || chip >= partita_chips() || chip == partita_chip()) {
        partita_fail("a message to or from a chip that doesn't exist");
    }
}

void partita_send_start(struct partita_message *message, int32_t chip, const void *l2, uint32_t bytes)
{
    verify(chip);
    message->is_send = 1;
    message->chip = chip;
    message->done = ++sends[chip];
    __asm__ volatile("" : : : "memory");
    write_register(registers_of(chip) + SEND_ADDRESS, (uint32_t)(uintptr_t)l2);
    write_register(registers_of(chip) + SEND, bytes);
    partita_moved.sent += bytes;
    sent[chip] += bytes;
}

void partita_receive_start(struct partita_message *message, int32_t chip, void *l2, uint32_t bytes)
{
    verify(chip);
    message->is_send = 0;
    message->chip = chip;
    message->done = ++receives[chip];
    __asm__ volatile("" : : : "memory");
    write_register(registers_of(chip) + RECEIVE_ADDRESS, (uint32_t)(uintptr_t)l2);
    write_register(registers_of(chip) + RECEIVE, bytes);
    partita_moved.received += bytes;
}

int32_t partita_message_ended(struct partita_message *message)
{
    const uint32_t count = registers_of(message->chip) + (message->is_send ? SENT : RECEIVED);
    return (int32_t)(read_register(count) - message->done) >= 0;
}

void partita_message_wait(struct partita_message *message)
{
    while (!partita_message_ended(message)) {
    }
    __asm__ volatile("" : : : "memory");
}

void partita_print_links(void)
{
    const char *separator = "";
    partita_print("{");
    for (int32_t chip = 0; chip < MAX_CHIPS; chip++) {
        if (sent[chip] > 0) {
            partita_print(separator);
            partita_print("\"");
            partita_print_number((uint64_t)chip);
            partita_print("\": ");
            partita_print_number(sent[chip]);
            separator = ", ";
        }
    }
    partita_print("}");
}
