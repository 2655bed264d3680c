/*
 * Links to other chips, through the controller of the board (targets/gvsoc): it takes descriptions of messages, moves
 * them between L2 of two chips while cores do something else, and counts those that are done. Messages between two chips
 * are done in order, so a count says which.
 */
#include "siracusa.h"

enum {
    MOST_CHIPS = 64,
    PEER = 0x10,
    ADDRESS = 0x14,
    SEND = 0x18,    /* bytes; what is written starts a message */
    RECEIVE = 0x1C, /* likewise */
    DONE = 0x400,   /* for each chip: how many messages were sent to it, and received from it */
};

static IN_L1 uint32_t sends[MOST_CHIPS];
static IN_L1 uint32_t receives[MOST_CHIPS];
static uint64_t sent[MOST_CHIPS];

static void start(struct partita_message *message, int32_t chip, const void *l2, uint32_t bytes)
{
    if (!PARTITA_BOARD || chip < 0 || chip >= partita_chips() || chip == partita_chip()) {
        partita_fail("a message to or from a chip that there isn't");
    }
    uint32_t *started = message->is_send ? &sends[chip] : &receives[chip];
    message->chip = chip;
    message->done = ++*started;
    __asm__ volatile("" : : : "memory");
    write_register(BOARD + PEER, (uint32_t)chip);
    write_register(BOARD + ADDRESS, (uint32_t)(uintptr_t)l2);
    write_register(BOARD + (message->is_send ? SEND : RECEIVE), bytes);
}

void partita_send_start(struct partita_message *message, int32_t chip, const void *l2, uint32_t bytes)
{
    message->is_send = 1;
    start(message, chip, l2, bytes);
    partita_moved.sent += bytes;
    sent[chip] += bytes;
}

void partita_receive_start(struct partita_message *message, int32_t chip, void *l2, uint32_t bytes)
{
    message->is_send = 0;
    start(message, chip, l2, bytes);
    partita_moved.received += bytes;
}

void partita_message_wait(struct partita_message *message)
{
    const uint32_t count = BOARD + DONE + 8 * (uint32_t)message->chip + (message->is_send ? 0 : 4);
    while ((int32_t)(read_register(count) - message->done) < 0) {
    }
    __asm__ volatile("" : : : "memory");
}

void partita_print_links(void)
{
    const char *separator = "";
    partita_print("{");
    for (int32_t chip = 0; chip < MOST_CHIPS; chip++) {
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
