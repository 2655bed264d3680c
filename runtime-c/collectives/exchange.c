#include "exchange.h"

#include "../hal/probe.h"
#include "../hal/profile.h"
#include "../tiles/preload.h"
#include "exchange_copies.h"
#include "exchange_joins.h"
#include "exchange_messages.h"

/*
 * The bytes of weights that an exchange preloads at a time while it awaits a message, if it copies elements itself: many
 * at the beginning, until the first message has arrived, and after the last of its own transfers; few in between, so that
 * its own transfers wait only briefly. None outside of the exchange's own step.
 */
enum { MANY = 16384, FEW = 1024, NONE = 0 };

#ifdef PARTITA_PROBES

/* A record has what one message left in L2. */
enum { AT_ONCE = 1 };

/* Writes what the last message that was awaited has changed. */
static void record(const struct partita_exchange *exchange, const struct partita_action *action, uint32_t message)
{
    const int32_t chip = partita_receives.chips[(partita_receives.ended - 1) % PARTITA_UNDER_WAY];
    partita_probe_begin(PARTITA_PROBE_RECEIVED, action->step + message, chip, action->bytes);
    if (action->gives_result != 0 && message + 1 == action->messages) {
        for (uint32_t at = 0, part; at < action->bytes; at += part) {
            part = exchange->line_bytes == 0 ? action->bytes : exchange->line_bytes;
            partita_probe_data(partita_result_place(exchange, at), part);
        }
        return;
    }
    if (action->slice_count == 0) {
        partita_probe_data(action->data, action->bytes);
    }
    for (uint32_t i = 0; i < action->slice_count; i++) {
        partita_probe_data(partita_slice_place(exchange, action->slices[i]), action->slices[i].size * exchange->element_bytes);
    }
}

#else

enum { AT_ONCE = PARTITA_JOINED };

#define record(exchange, action, message) (void)(message)

#endif

/* How many of so many messages are joined in one pass. */
static inline uint32_t at_once(const struct partita_exchange *exchange, uint32_t messages)
{
    if (messages <= AT_ONCE && 2 * (messages + 1) * exchange->element_bytes <= exchange->workspace_bytes) {
        return messages;
    }
    const uint32_t fit = exchange->workspace_bytes / 2 / exchange->element_bytes - 1;
    const uint32_t most = partita_least(fit, AT_ONCE);
    return partita_least(messages, most);
}

/* Starts to load what the next messages to join bring, unless that would wait for them. */
static void load_ahead(const struct partita_exchange *exchange, const struct partita_action *action)
{
    const uint32_t count = at_once(exchange, action->messages);
    const uint32_t first = partita_receives.ended;
    for (uint32_t i = first; i < first + count; i++) {
        if (!partita_message_ended(&partita_receives.messages[i % PARTITA_UNDER_WAY])) {
            return;
        }
    }
    partita_join_begin(exchange, action, 0, count);
}

static void join_all(const struct partita_exchange *exchange, const struct partita_action *action)
{
    for (uint32_t done = 0, count; done < action->messages; done += count) {
        count = at_once(exchange, action->messages - done);
        partita_join_messages(exchange, action, done, count);
        record(exchange, action, done);
    }
}

PARTITA_INLINE void post(const struct partita_action *action)
{
    partita_probe_begin(PARTITA_PROBE_RECEIVE, action->step, action->chip, action->bytes);
    partita_receive_start(partita_next_message(&partita_receives, action->chip), action->chip, action->data, action->bytes);
}

PARTITA_INLINE void send(const struct partita_action *action)
{
    partita_probe_begin(PARTITA_PROBE_SEND, action->step, action->chip, action->bytes);
    partita_probe_data(action->data, action->bytes);
    partita_send_start(partita_next_message(&partita_sends, action->chip), action->chip, action->data, action->bytes);
}

/* Does an action that copies or joins elements. */
static PARTITA_COMPACT void act_on_slices(const struct partita_exchange *exchange, const struct partita_action *action)
{
    if (action->kind == PARTITA_JOIN) {
        join_all(exchange, action);
    } else if (action->kind == PARTITA_LOAD) {
        load_ahead(exchange, action);
    } else if (action->kind == PARTITA_SEND_SLICES) {
        partita_copy_slices(exchange, action);
        send(action);
    } else {
        partita_await_next(&partita_receives);
        partita_copy_slices(exchange, action);
        record(exchange, action, 0u);
    }
}

/* How many actions of the current exchange, or of the next one, have been done, and whether its vector has the operand. */
static PARTITA_NEAR uint32_t begun;
static PARTITA_NEAR int32_t is_kept;

/* Does the actions before action `end` that haven't been done. */
static PARTITA_COMPACT void act(const struct partita_exchange *exchange, uint32_t end)
{
    const struct partita_action *action = exchange->actions + begun;
    const struct partita_action *last = exchange->actions + end;
    begun = end;
    for (; action != last; action++) {
        if (action->ended != 0) {
            partita_await(&partita_sends, action->ended);
        }
        if (action->kind == PARTITA_SEND) {
            send(action);
        } else if (action->kind == PARTITA_POST) {
            post(action);
        } else if (action->kind == PARTITA_FINISH) {
            partita_await_next(&partita_receives);
            record(exchange, action, 0u);
        } else {
            act_on_slices(exchange, action);
        }
    }
}

static void keep_operand(const struct partita_exchange *exchange)
{
    partita_copy_operand(exchange);
    is_kept = 1;
}

/* Does the first actions, which wait for no message. If one needs the operand in the vector, it is copied before. */
static inline void begin_messages(const struct partita_exchange *exchange)
{
    partita_sends.started = 0;
    partita_sends.ended = 0;
    partita_receives.started = 0;
    partita_receives.ended = 0;
    is_kept = exchange->operand == 0;
    if (!is_kept && exchange->beginning > exchange->keeping) {
        act(exchange, exchange->keeping);
        keep_operand(exchange);
    }
    act(exchange, exchange->beginning);
}

/* With probes it does nothing: records of messages belong to the exchange's own step. */
void partita_exchange_begin(const struct partita_exchange *exchange)
{
#ifndef PARTITA_PROBES
    const partita_instant began = partita_part_begin();
    begin_messages(exchange);
    partita_part_end(PARTITA_EXCHANGES, began);
#else
    (void)exchange;
#endif
}

void partita_exchange(const struct partita_exchange *exchange)
{
    const partita_instant began = partita_part_begin();
    partita_preloaded = FEW;
    if (begun == 0) {
        /* So messages are on their way while the operand is copied and the first preload is started. */
        begin_messages(exchange);
    }
    if (!is_kept) {
        keep_operand(exchange);
    }
    if (exchange->copying <= begun && exchange->after == 0) {
        partita_preload_start();
    } else {
        partita_preload_part(MANY);
    }
    if (begun < exchange->copying) {
        act(exchange, exchange->copying);
    }
    partita_preloaded = MANY;
    if (begun < exchange->action_count) {
        act(exchange, exchange->action_count);
    }
    begun = 0;
    partita_await(&partita_sends, partita_sends.started);
    if (exchange->after != 0) {
        partita_copy_result(exchange);
    }
    partita_preloaded = NONE;
    partita_preload_start();
    partita_part_end(PARTITA_EXCHANGES, began);
}
