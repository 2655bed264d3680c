/*
 * One chip's messages in a collective, in an order that the compiler has proved to be free of deadlock. Tree, ring and
 * direct algorithms are tables of actions (ir's Actions).
 *
 * A collective is defined on one vector of elements that all its chips know (ir's Communication.Exchange). A chip keeps
 * the whole vector in L2 during the exchange, although it may hold only a part of it. Messages are on their way while
 * the chip does its next actions: receives are posted before they are awaited, and sends are awaited when something
 * would write what they read. A received slice replaces the chip's own, or is joined with it as own OP received: sums
 * are in the order of the algorithm's contract (ir's Algorithm), and don't depend on the order of actions or on the
 * tiling of slices.
 */
#ifndef PARTITA_EXCHANGE_H
#define PARTITA_EXCHANGE_H

#include "../hal/hal.h"
#include "join.h"

/* Elements start .. start + size - 1 of the vector. */
struct partita_slice {
    uint32_t start;
    uint32_t size;
};

/* The most messages that are joined at once, the most sends that haven't ended, and the most receives not awaited. */
#define PARTITA_JOINED 8
#define PARTITA_UNDER_WAY 16

enum partita_action_kind {
    PARTITA_SEND,          /* starts to send a message */
    PARTITA_POST,          /* starts to receive one */
    PARTITA_FINISH,        /* awaits the one that was posted first */
    PARTITA_SEND_SLICES,   /* copies several slices to where their message is, and starts to send it */
    PARTITA_FINISH_SLICES, /* awaits the one that was posted first, and copies several slices from there */
    PARTITA_LOAD,          /* starts to load what the next messages to join bring, if they have arrived */
    PARTITA_JOIN           /* awaits those that were posted first, and joins what they brought */
};

/* Small, since chips keep all actions in their fastest memory. */
struct partita_action {
    uint8_t kind;     /* of partita_action_kind */
    uint8_t messages; /* to load and join: how many, up to PARTITA_JOINED */
    uint16_t ended;   /* how many of the exchange's first sends must have ended before; 0 if an earlier action sees to it */
    uint16_t chip;    /* at the other end */
    uint16_t step;    /* of the collective; of several, the first */
    uint32_t bytes;   /* of a message */
    uint8_t *data;    /* where the message is in L2, or the first of several */
    partita_kernel *combine;            /* of partita_join, to load and join */
    const struct partita_slice *slices; /* which elements are copied or joined, in this order */
    uint16_t slice_count;
    uint16_t gives_result; /* whether what is joined is stored in the result, and not in the vector */
};

struct partita_exchange {
    const struct partita_action *actions;
    uint32_t action_count;
    uint32_t beginning; /* how many actions there are up to the first that awaits a message */
    uint32_t keeping; /* how many there are up to the first that needs the operand in the vector */
    uint32_t copying; /* how many actions there are up to the last that copies or joins elements */
    const struct partita_slice *before; /* what the chip has; null if the vector holds it already */
    uint32_t before_count;
    const struct partita_slice *after; /* what it is to have; null if it stays in the vector, or an action stores it */
    uint32_t after_count;
    uint32_t element_bytes;
    uint8_t *vector;          /* L2: all elements; overlaps neither operand nor result */
    const uint8_t *operand;   /* L2: the elements of before, one slice after the other, or null with it */
    void *result;             /* L2: the elements of after, one slice after the other, in lines */
    uint32_t line_bytes;      /* of a line of the result; 0 if it's contiguous */
    uint32_t line_stride;     /* from one line to the next */
    void *workspace;          /* L1, aligned to 8 bytes */
    uint32_t workspace_bytes; /* at least 4 elements; the more, the fewer transfers */
};

/*
 * Begins the exchange that is done next: its first messages are on their way until then. In between, neither its
 * vector nor the buffers of its messages may be used, and its operand not be written. The team must be idle, and no
 * transfer may use the workspace.
 */
void partita_exchange_begin(const struct partita_exchange *exchange);

/* Does all actions that haven't been done. The team must be idle, and no transfer may use the workspace. */
void partita_exchange(const struct partita_exchange *exchange);

#endif
