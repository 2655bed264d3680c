/*
 * The messages of an exchange that are on their way, for the files of exchange.h. Sends and receives are two queues: each
 * ends, and is awaited, in the order in which it was started. What a chip does for each message is inlined, although this code
 * is compiled for size: it takes as long as a call.
 */
#ifndef PARTITA_EXCHANGE_MESSAGES_H
#define PARTITA_EXCHANGE_MESSAGES_H

#include "exchange.h"

struct partita_queue {
    struct partita_message messages[PARTITA_UNDER_WAY];
    uint32_t started;
    uint32_t ended; /* and awaited */
#ifdef PARTITA_PROBES
    int32_t chips[PARTITA_UNDER_WAY]; /* at the other ends */
#endif
};

extern struct partita_queue partita_sends;
extern struct partita_queue partita_receives;

/* The bytes of weights that are preloaded at a time while a message is awaited; 0 for none. */
extern uint32_t partita_preloaded;

/* The place of the next message to start. */
PARTITA_INLINE struct partita_message *partita_next_message(struct partita_queue *queue, int32_t chip)
{
    const uint32_t place = queue->started++ % PARTITA_UNDER_WAY;
#ifdef PARTITA_PROBES
    queue->chips[place] = chip;
#endif
    (void)chip;
    return &queue->messages[place];
}

/* Waits for a message that hasn't ended; meanwhile, weights are preloaded, and sends are passed that have ended. */
void partita_await_message(struct partita_message *message);

PARTITA_INLINE void partita_await_ended(struct partita_message *message)
{
    if (!partita_message_ended(message)) {
        partita_await_message(message);
    }
}

/* Waits for the first message that hasn't been awaited. */
PARTITA_INLINE void partita_await_next(struct partita_queue *queue)
{
    partita_await_ended(&queue->messages[queue->ended % PARTITA_UNDER_WAY]);
    queue->ended++;
}

/* Waits until the first `count` messages have ended. */
void partita_await(struct partita_queue *queue, uint32_t count);

/* Passes sends that have ended, which would take time at the end of the exchange. */
void partita_pass_sends(void);

#endif
