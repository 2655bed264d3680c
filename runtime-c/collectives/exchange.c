#include "exchange.h"

#include "../hal/probe.h"
#include "../hal/profile.h"
#include "../tiles/preload.h"

static uint32_t least(uint32_t one, uint32_t other)
{
    return one < other ? one : other;
}

/* How many bytes of the result, from one on, a single transfer can store: within a line, or whole lines. */
static uint32_t result_part(const struct partita_exchange *exchange, uint32_t at, uint32_t most)
{
    const uint32_t line = exchange->line_bytes;
    if (line == 0) {
        return most;
    }
    const uint32_t within = at % line;
    return within == 0 && most >= line ? most / line * line : least(most, line - within);
}

/* Most slices are one tile, which begins the result: a division takes as long as 30 other instructions. */
static uint8_t *result_place(const struct partita_exchange *exchange, uint32_t at)
{
    const uint32_t line = exchange->line_bytes;
    return (uint8_t *)exchange->result + (line == 0 || at == 0 ? at : at / line * exchange->line_stride + at % line);
}

/* Starts to store such a part. */
static void store_result(struct partita_transfer *transfer, const struct partita_exchange *exchange, uint32_t at,
                         const void *l1, uint32_t bytes)
{
    const uint32_t line = exchange->line_bytes;
    uint8_t *to = result_place(exchange, at);
    if (line == 0 || bytes <= line) {
        partita_store_start(transfer, to, l1, bytes);
    } else {
        partita_store_lines_start(transfer, to, l1, bytes / line, line, exchange->line_stride);
    }
}

/* How many of so many bytes the workspace and a transfer take. */
static uint32_t workspace_part(const struct partita_exchange *exchange, uint32_t bytes)
{
    return least(bytes, least(exchange->workspace_bytes, PARTITA_TRANSFER_LIMIT));
}

/* Copies within L2, through the workspace. */
static void copy(const struct partita_exchange *exchange, void *to, const void *from, uint32_t bytes)
{
    uint32_t done = 0;
    while (done < bytes) {
        const uint32_t part = workspace_part(exchange, bytes - done);
        struct partita_transfer transfer;
        partita_load_start(&transfer, exchange->workspace, (const uint8_t *)from + done, part);
        partita_transfer_wait(&transfer);
        partita_store_start(&transfer, (uint8_t *)to + done, exchange->workspace, part);
        partita_transfer_wait(&transfer);
        done += part;
    }
}

/* Inlined although the code between kernels is compiled for size: what a chip does for each message takes as long as calls. */
#define OF_EACH_MESSAGE static inline __attribute__((always_inline))

OF_EACH_MESSAGE uint8_t *place(const struct partita_exchange *exchange, struct partita_slice slice)
{
    return exchange->vector + (size_t)slice.start * exchange->element_bytes;
}

/* The messages on their way: sends and receives, each in the order in which they were started. */
struct queue {
    struct partita_message messages[PARTITA_UNDER_WAY];
    uint32_t started;
    uint32_t ended;
#ifdef PARTITA_PROBES
    int32_t chips[PARTITA_UNDER_WAY]; /* at the other ends */
#endif
};

static PARTITA_NEAR struct queue sends;
static PARTITA_NEAR struct queue receives;

OF_EACH_MESSAGE struct partita_message *next_of(struct queue *queue, int32_t chip)
{
    const uint32_t place = queue->started++ % PARTITA_UNDER_WAY;
#ifdef PARTITA_PROBES
    queue->chips[place] = chip;
#endif
    (void)chip;
    return &queue->messages[place];
}

/*
 * The bytes of a part that is preloaded by an exchange that copies elements itself: at the beginning, until the first
 * message has arrived, and after the last of the exchange's own transfers many; in between few, so that its own transfers
 * wait only briefly. Outside of the exchange's own step none.
 */
enum { MANY = 16384, FEW = 1024, NONE = 0 };
static PARTITA_NEAR uint32_t preloaded;

/*
 * Waits for a message that hasn't ended; meanwhile, what is preloaded next is copied in parts, and sends are awaited that
 * have ended, which would take time at the end of the exchange.
 */
static __attribute__((noinline)) void await_message(struct partita_message *message)
{
    while (preloaded != NONE && partita_preload_waits()) {
        partita_preload_part(preloaded);
        if (partita_message_ended(message)) {
            return;
        }
    }
    while (sends.ended != sends.started && partita_message_ended(&sends.messages[sends.ended % PARTITA_UNDER_WAY])) {
        sends.ended++;
        if (partita_message_ended(message)) {
            return;
        }
    }
    partita_message_wait(message);
}

OF_EACH_MESSAGE void await_ended(struct partita_message *message)
{
    if (!partita_message_ended(message)) {
        await_message(message);
    }
}

/* Waits for the first that hasn't been awaited. */
OF_EACH_MESSAGE void await_next(struct queue *queue)
{
    await_ended(&queue->messages[queue->ended % PARTITA_UNDER_WAY]);
    queue->ended++;
}

/* Waits until so many have ended. */
static PARTITA_COMPACT void await(struct queue *queue, uint32_t count)
{
    uint32_t ended = queue->ended;
    for (; ended < count; ended++) {
        await_ended(&queue->messages[ended % PARTITA_UNDER_WAY]);
    }
    queue->ended = ended;
}

/* Passes those that have ended, while there is nothing else to do. */
static PARTITA_COMPACT void pass_ended(struct queue *queue)
{
    uint32_t ended = queue->ended;
    while (ended < queue->started && partita_message_ended(&queue->messages[ended % PARTITA_UNDER_WAY])) {
        ended++;
    }
    queue->ended = ended;
}

/* Copies several slices to where their message is, or from there. */
static void pack(const struct partita_exchange *exchange, const struct partita_action *action)
{
    uint8_t *data = action->data;
    for (uint32_t i = 0; i < action->slice_count; i++) {
        const uint32_t bytes = action->slices[i].size * exchange->element_bytes;
        uint8_t *own = place(exchange, action->slices[i]);
        const int32_t is_send = action->kind == PARTITA_SEND_SLICES;
        copy(exchange, is_send ? data : own, is_send ? own : data, bytes);
        data += bytes;
    }
}

/* So many slices are loaded at a time, which follow each other in the result. */
enum { SLICES = 4 };

/* Copies the elements of after to the result, through the workspace: of several slices as far as there is room for them. */
static __attribute__((noinline)) void copy_result(const struct partita_exchange *exchange)
{
    const uint32_t room = workspace_part(exchange, ~0u);
    uint32_t at = 0;
    uint32_t done = 0; /* bytes of the slice */
    for (uint32_t i = 0; i < exchange->after_count;) {
        struct partita_transfer loads[SLICES];
        uint32_t count = 0;
        uint32_t loaded = 0;
        while (i < exchange->after_count && count < SLICES && loaded < room && loaded % 4 == 0) {
            const uint32_t left = exchange->after[i].size * exchange->element_bytes - done;
            const uint32_t part = least(left, room - loaded);
            partita_load_start(&loads[count++], (uint8_t *)exchange->workspace + loaded, place(exchange, exchange->after[i]) + done,
                               part);
            loaded += part;
            done = part == left ? 0 : done + part;
            i += done == 0;
        }
        for (uint32_t j = 0; j < count; j++) {
            partita_transfer_wait(&loads[j]);
        }
        for (uint32_t stored = 0, part; stored < loaded; stored += part) {
            struct partita_transfer transfer;
            part = result_part(exchange, at, loaded - stored);
            store_result(&transfer, exchange, at, (uint8_t *)exchange->workspace + stored, part);
            partita_transfer_wait(&transfer);
            at += part;
        }
    }
}

/* A part of a slice in L1: own elements, and behind them those that each message has at the same place. */
struct tile {
    uint8_t *own; /* in L2 */
    uint32_t bytes;
    struct partita_join join;
    struct partita_transfer moved; /* own elements, in either direction */
    struct partita_transfer received;
};

/* The most bytes of a tile's elements, so that a message of some KiB has several. */
enum { TILE = 2048 };

/* So many received elements are joined by the control core itself, before the team would have begun. */
enum { ALONE = 32 };

/* The slice whose elements are joined with those of messages, tile by tile. */
static PARTITA_NEAR struct joining {
    const struct partita_exchange *exchange;
    partita_kernel *combine;
    uint8_t *own;            /* of the next tile, in L2 */
    const uint8_t *received; /* of the first message, likewise */
    uint32_t apart;          /* from one message to the next */
    uint32_t count;          /* messages */
    uint32_t all;            /* receives that must have ended */
    uint32_t all_elements;   /* of the slice */
    uint32_t all_bytes;
    uint32_t left;           /* bytes of elements that aren't in a tile yet */
    uint32_t half;           /* of the workspace, for a tile */
    uint32_t most;           /* bytes of a tile's elements */
    int32_t gives_result;    /* whether what is joined is stored in the result */
    uint32_t loaded;         /* bytes of it in tiles so far */
    uint32_t stored;         /* of these, bytes that are in the result */
    uint32_t turn;
} joining;

static PARTITA_NEAR struct tile tiles[2];

/* The first tile of the next slice to join, if it is loaded already. */
static PARTITA_NEAR struct tile *ahead;

/* Aligned to 8 bytes if there is room for it, and to elements, whose size is a power of two. */
static inline uint32_t aligned(uint32_t bytes, uint32_t size)
{
    return bytes & ~((bytes >= 8 ? 8u : size) - 1);
}

/* From the buffer of a message to that of the next one. */
static inline uint32_t apart(const struct partita_action *action)
{
    return (action->bytes + 7) / 8 * 8;
}

/* Loads the next tile, once its messages have arrived; null if there is none. */
static struct tile *load(void)
{
    if (joining.left == 0) {
        return 0;
    }
    struct tile *tile = &tiles[joining.turn % 2];
    uint8_t *l1 = (uint8_t *)joining.exchange->workspace + joining.turn % 2 * joining.half;
    uint32_t bytes = least(joining.left, joining.most);
    /* All elements together are whole lines. */
    if (joining.gives_result && bytes != joining.all_bytes) {
        bytes = result_part(joining.exchange, joining.loaded, bytes);
    }
    tile->own = joining.own;
    tile->bytes = bytes;
    tile->join.own = l1;
    tile->join.received = l1 + bytes;
    tile->join.count = (int32_t)joining.count;
    tile->join.elements = (int32_t)(bytes == joining.all_bytes ? joining.all_elements : bytes / joining.exchange->element_bytes);
    partita_load_start(&tile->moved, l1, joining.own, bytes);
    await(&receives, joining.all);
    /* Mostly whole messages, which are one line: its code has just been used. */
    if (bytes == joining.apart) {
        partita_load_start(&tile->received, l1 + bytes, joining.received, joining.count * bytes);
    } else {
        partita_load_lines_start(&tile->received, l1 + bytes, joining.received, joining.count, bytes, joining.apart);
    }
    joining.loaded += bytes;
    joining.own += bytes;
    joining.received += bytes;
    joining.left -= bytes;
    joining.turn++;
    return tile;
}

/*
 * Loads the first tile of own elements and of those that `count` messages hold for them from `received` on. These may
 * be the last messages of the action.
 */
static struct tile *begin(const struct partita_exchange *exchange, const struct partita_action *action, uint32_t count,
                          struct partita_slice slice, const uint8_t *received, uint32_t all, int32_t is_last)
{
    const uint32_t size = exchange->element_bytes;
    const uint32_t bytes = slice.size * size;
    const uint32_t half = aligned(exchange->workspace_bytes / 2, size);
    joining.exchange = exchange;
    joining.combine = action->combine;
    joining.own = place(exchange, slice);
    joining.received = received;
    joining.apart = apart(action);
    joining.count = count;
    joining.all = all;
    joining.all_elements = slice.size;
    joining.all_bytes = bytes;
    joining.left = bytes;
    joining.half = half;
    joining.most = bytes;
    joining.gives_result = is_last && action->gives_result != 0;
    joining.loaded = 0;
    joining.stored = 0;
    joining.turn = 0;
    if (bytes > TILE || bytes * (count + 1) > half) {
        joining.most = least(aligned(half / (count + 1), size), TILE);
    }
    return load();
}

/* Starts to store what has been joined. */
static void store(struct tile *tile)
{
    if (joining.gives_result) {
        store_result(&tile->moved, joining.exchange, joining.stored, tile->join.own, tile->bytes);
        joining.stored += tile->bytes;
    } else {
        partita_store_start(&tile->moved, tile->own, tile->join.own, tile->bytes);
    }
}

/* Joins a slice from a tile on: the next one is loaded, and the one before stored, while the team joins one. */
static PARTITA_COMPACT void join(struct tile *tile)
{
    struct tile *before = 0;
    while (tile != 0) {
        partita_transfer_wait(&tile->moved);
        partita_transfer_wait(&tile->received);
        const int32_t is_alone = tile->join.elements * tile->join.count <= ALONE;
        if (is_alone) {
            joining.combine(&tile->join, 0, 1);
        } else {
            partita_team_start(joining.combine, &tile->join);
        }
        if (before != 0) {
            partita_transfer_wait(&before->moved);
        }
        struct tile *next = load();
        if (!is_alone) {
            pass_ended(&sends);
            partita_team_wait();
        }
        store(tile);
        before = tile;
        tile = next;
    }
    partita_transfer_wait(&before->moved);
}

/* Joins all slices of messages that have the same ones; the last ones of an action may give the result. */
static void join_slices(const struct partita_exchange *exchange, const struct partita_action *action, uint32_t count,
                        const uint8_t *data, uint32_t all, int32_t is_last)
{
    for (uint32_t i = 0; i < action->slice_count; i++) {
        join(ahead != 0 ? ahead : begin(exchange, action, count, action->slices[i], data, all, is_last));
        ahead = 0;
        data += action->slices[i].size * exchange->element_bytes;
    }
}

#ifdef PARTITA_PROBES

/* A record has what one message left in L2. */
enum { AT_ONCE = 1 };

/* Writes what the last message that was awaited has changed. */
static void record(const struct partita_exchange *exchange, const struct partita_action *action, uint32_t message)
{
    const int32_t chip = receives.chips[(receives.ended - 1) % PARTITA_UNDER_WAY];
    partita_probe_begin(PARTITA_PROBE_RECEIVED, action->step + message, chip, action->bytes);
    if (action->gives_result != 0 && message + 1 == action->messages) {
        for (uint32_t at = 0, part; at < action->bytes; at += part) {
            part = exchange->line_bytes == 0 ? action->bytes : exchange->line_bytes;
            partita_probe_data(result_place(exchange, at), part);
        }
        return;
    }
    if (action->slice_count == 0) {
        partita_probe_data(action->data, action->bytes);
    }
    for (uint32_t i = 0; i < action->slice_count; i++) {
        partita_probe_data(place(exchange, action->slices[i]), action->slices[i].size * exchange->element_bytes);
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
    const uint32_t most = fit < AT_ONCE ? fit : AT_ONCE;
    return messages < most ? messages : most;
}

/* Starts to load the first tile of what is joined next, unless that would wait for messages. */
static void load_ahead(const struct partita_exchange *exchange, const struct partita_action *action)
{
    const uint32_t count = at_once(exchange, action->messages);
    for (uint32_t i = receives.ended; i < receives.ended + count; i++) {
        if (!partita_message_ended(&receives.messages[i % PARTITA_UNDER_WAY])) {
            return;
        }
    }
    ahead = begin(exchange, action, count, action->slices[0], action->data, receives.ended + count,
                  count == action->messages);
}

static void finish_joined(const struct partita_exchange *exchange, const struct partita_action *action)
{
    for (uint32_t done = 0, count; done < action->messages; done += count) {
        count = at_once(exchange, action->messages - done);
        join_slices(exchange, action, count, action->data + done * apart(action), receives.ended + count,
                    done + count == action->messages);
        record(exchange, action, done);
    }
}

OF_EACH_MESSAGE void post(const struct partita_action *action)
{
    partita_probe_begin(PARTITA_PROBE_RECEIVE, action->step, action->chip, action->bytes);
    partita_receive_start(next_of(&receives, action->chip), action->chip, action->data, action->bytes);
}

OF_EACH_MESSAGE void send(const struct partita_action *action)
{
    partita_probe_begin(PARTITA_PROBE_SEND, action->step, action->chip, action->bytes);
    partita_probe_data(action->data, action->bytes);
    partita_send_start(next_of(&sends, action->chip), action->chip, action->data, action->bytes);
}

/* Does an action that copies or joins elements. */
static PARTITA_COMPACT void act_on_slices(const struct partita_exchange *exchange, const struct partita_action *action)
{
    if (action->kind == PARTITA_JOIN) {
        finish_joined(exchange, action);
    } else if (action->kind == PARTITA_LOAD) {
        load_ahead(exchange, action);
    } else if (action->kind == PARTITA_SEND_SLICES) {
        pack(exchange, action);
        send(action);
    } else {
        await_next(&receives);
        pack(exchange, action);
        record(exchange, action, 0u);
    }
}

/* How many actions of the next exchange have been done, and whether the vector has the operand. */
static PARTITA_NEAR uint32_t begun;
static PARTITA_NEAR int32_t is_kept;

/* Does an exchange's actions up to one. */
static PARTITA_COMPACT void act(const struct partita_exchange *exchange, uint32_t end)
{
    const struct partita_action *action = exchange->actions + begun;
    const struct partita_action *last = exchange->actions + end;
    begun = end;
    for (; action != last; action++) {
        if (action->ended != 0) {
            await(&sends, action->ended);
        }
        if (action->kind == PARTITA_SEND) {
            send(action);
        } else if (action->kind == PARTITA_POST) {
            post(action);
        } else if (action->kind == PARTITA_FINISH) {
            await_next(&receives);
            record(exchange, action, 0u);
        } else {
            act_on_slices(exchange, action);
        }
    }
}

static __attribute__((noinline)) void keep_operand(const struct partita_exchange *exchange)
{
    const uint8_t *operand = exchange->operand;
    for (uint32_t i = 0; i < exchange->before_count; i++) {
        const uint32_t bytes = exchange->before[i].size * exchange->element_bytes;
        copy(exchange, place(exchange, exchange->before[i]), operand, bytes);
        operand += bytes;
    }
    is_kept = 1;
}

/* Does the first actions, which wait for nothing, and copies the operand to the vector before the first that needs it there. */
static inline void begin_messages(const struct partita_exchange *exchange)
{
    sends.started = 0;
    sends.ended = 0;
    receives.started = 0;
    receives.ended = 0;
    is_kept = exchange->operand == 0;
    if (!is_kept && exchange->beginning > exchange->keeping) {
        act(exchange, exchange->keeping);
        keep_operand(exchange);
    }
    act(exchange, exchange->beginning);
}

/* Records what messages change belong to the exchange's own step. */
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
    preloaded = FEW;
    if (begun == 0) {
        /* Messages are on their way while the operand is copied and the first preload is started. */
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
    preloaded = MANY;
    if (begun < exchange->action_count) {
        act(exchange, exchange->action_count);
    }
    begun = 0;
    await(&sends, sends.started);
    if (exchange->after != 0) {
        copy_result(exchange);
    }
    preloaded = NONE;
    partita_preload_start();
    partita_part_end(PARTITA_EXCHANGES, began);
}
