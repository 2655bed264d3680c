/*
 * Links to other chips, through the controller of the board (targets/gvsoc): it takes message descriptors, moves
 * messages between the L2 of two chips concurrently with the cores, and counts finished ones. Messages between two
 * chips finish in order, so the count identifies them.
 *
 * These functions of hal.h are inline: what the control core does for each message is time in which a chip waits.
 */
#ifndef PARTITA_SIRACUSA_LINKS_H
#define PARTITA_SIRACUSA_LINKS_H

#include <stdint.h>

enum { PARTITA_MAX_CHIPS = 64 };

/* The controller's registers for another chip. */
struct partita_link {
    volatile uint32_t send_address;
    volatile uint32_t send; /* bytes; what is written starts a message */
    volatile uint32_t receive_address;
    volatile uint32_t receive; /* likewise */
    volatile uint32_t sent;    /* messages */
    volatile uint32_t received;
    uint32_t unused[2];
};

/* Messages and bytes so far, modulo 2^32. */
struct partita_links {
    uint32_t sent; /* bytes, as far as partita_traffic hasn't counted them */
    uint32_t received;
    struct {
        struct partita_link *link; /* null if there is no such chip */
        uint32_t sends;
        uint32_t receives;
        uint32_t sent; /* bytes */
    } peers[PARTITA_MAX_CHIPS];
};

extern struct partita_links partita_links;

_Noreturn void partita_refuse_message(void);

/* The register that counts the message when it has ended, and its value then. */
struct partita_message {
    const volatile uint32_t *count;
    uint32_t done;
};

PARTITA_INLINE void partita_send_start(struct partita_message *message, int32_t chip, const void *l2, uint32_t bytes)
{
    struct partita_link *link = partita_links.peers[chip].link;
    if (link == 0) {
        partita_refuse_message();
    }
    __asm__ volatile("" : : : "memory");
    link->send_address = (uint32_t)(uintptr_t)l2;
    link->send = bytes;
    message->count = &link->sent;
    message->done = ++partita_links.peers[chip].sends;
    partita_links.peers[chip].sent += bytes;
    partita_links.sent += bytes;
}

PARTITA_INLINE void partita_receive_start(struct partita_message *message, int32_t chip, void *l2, uint32_t bytes)
{
    struct partita_link *link = partita_links.peers[chip].link;
    if (link == 0) {
        partita_refuse_message();
    }
    __asm__ volatile("" : : : "memory");
    link->receive_address = (uint32_t)(uintptr_t)l2;
    link->receive = bytes;
    message->count = &link->received;
    message->done = ++partita_links.peers[chip].receives;
    partita_links.received += bytes;
}

PARTITA_INLINE int32_t partita_message_ended(struct partita_message *message)
{
    const int32_t has_ended = (int32_t)(*message->count - message->done) >= 0;
    __asm__ volatile("" : : : "memory");
    return has_ended;
}

PARTITA_INLINE void partita_message_wait(struct partita_message *message)
{
    while (!partita_message_ended(message)) {
    }
}

#endif
