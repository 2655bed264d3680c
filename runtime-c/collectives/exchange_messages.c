#include "exchange_messages.h"

#include "../tiles/preload.h"

PARTITA_NEAR struct partita_queue partita_sends;
PARTITA_NEAR struct partita_queue partita_receives;
PARTITA_NEAR uint32_t partita_preloaded;

/* Passes the first send that hasn't been awaited, if it has ended; whether it has. */
PARTITA_INLINE int32_t pass_send(void)
{
    const uint32_t ended = partita_sends.ended;
    if (ended == partita_sends.started || !partita_message_ended(&partita_sends.messages[ended % PARTITA_UNDER_WAY])) {
        return 0;
    }
    partita_sends.ended = ended + 1;
    return 1;
}

void partita_await_message(struct partita_message *message)
{
    while (partita_preloaded != 0 && partita_preload_waits()) {
        partita_preload_part(partita_preloaded);
        if (partita_message_ended(message)) {
            return;
        }
    }
    while (pass_send()) {
        if (partita_message_ended(message)) {
            return;
        }
    }
    partita_message_wait(message);
}

PARTITA_COMPACT void partita_await(struct partita_queue *queue, uint32_t count)
{
    uint32_t ended = queue->ended;
    for (; ended < count; ended++) {
        partita_await_ended(&queue->messages[ended % PARTITA_UNDER_WAY]);
    }
    queue->ended = ended;
}

PARTITA_COMPACT void partita_pass_sends(void)
{
    while (pass_send()) {
    }
}
