#include "exchange.h"

#include "../hal/probe.h"
#include "../tiles/preload.h"

/* Copies within L2, through the workspace. */
static void copy(const struct partita_exchange *exchange, void *to, const void *from, uint32_t bytes)
{
    uint32_t done = 0;
    while (done < bytes) {
        uint32_t part = bytes - done < exchange->workspace_bytes ? bytes - done : exchange->workspace_bytes;
        struct partita_transfer transfer;
        part = part < PARTITA_TRANSFER_LIMIT ? part : PARTITA_TRANSFER_LIMIT;
        partita_load_start(&transfer, exchange->workspace, (const uint8_t *)from + done, part);
        partita_transfer_wait(&transfer);
        partita_store_start(&transfer, (uint8_t *)to + done, exchange->workspace, part);
        partita_transfer_wait(&transfer);
        done += part;
    }
}

static uint8_t *place(const struct partita_exchange *exchange, struct partita_slice slice)
{
    return (uint8_t *)exchange->vector + (size_t)slice.start * exchange->element_bytes;
}

/* The messages on their way: sends and receives, each in the order in which they were started. */
struct queue {
    struct partita_message messages[PARTITA_UNDER_WAY];
    int32_t chips[PARTITA_UNDER_WAY]; /* at the other ends */
    uint32_t started;
    uint32_t ended;
};

static PARTITA_NEAR struct queue sends;
static PARTITA_NEAR struct queue receives;

static struct partita_message *next_of(struct queue *queue, int32_t chip)
{
    const uint32_t place = queue->started++ % PARTITA_UNDER_WAY;
    queue->chips[place] = chip;
    return &queue->messages[place];
}

/* Waits until so many have ended. */
static void await(struct queue *queue, uint32_t count)
{
    while (queue->ended < count) {
        partita_message_wait(&queue->messages[queue->ended++ % PARTITA_UNDER_WAY]);
    }
}

/* Whether a message is sent from the vector, or received into it. */
static int32_t is_in_place(const struct partita_action *action)
{
    return action->slice_count == 0 && action->combine == 0;
}

static uint8_t *data_of(const struct partita_exchange *exchange, const struct partita_action *action)
{
    return is_in_place(action) ? place(exchange, action->slice) : (uint8_t *)exchange->message + action->place;
}

/* Copies several slices to where their message is, or from there. */
static void pack(const struct partita_exchange *exchange, const struct partita_action *action, uint8_t *data)
{
    for (uint32_t i = 0; i < action->slice_count; i++) {
        const uint32_t bytes = action->slices[i].size * exchange->element_bytes;
        uint8_t *own = place(exchange, action->slices[i]);
        const int32_t is_send = action->kind == PARTITA_SEND;
        copy(exchange, is_send ? data : own, is_send ? own : data, bytes);
        data += bytes;
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

/* The slice whose elements are joined with those of messages, tile by tile. */
static PARTITA_NEAR struct joining {
    const struct partita_exchange *exchange;
    partita_kernel *combine;
    uint8_t *own;            /* of the next tile, in L2 */
    const uint8_t *received; /* of the first message, likewise */
    uint32_t apart;          /* from one message to the next */
    uint32_t count;          /* messages */
    uint32_t all;            /* receives that must have ended */
    uint32_t left;           /* bytes of elements that aren't in a tile yet */
    uint32_t half;           /* of the workspace, for a tile */
    uint32_t most;           /* bytes of a tile's elements */
    uint32_t turn;
} joining;

static PARTITA_NEAR struct tile tiles[2];

/* The first tile of the next slice to join, if it is loaded already. */
static struct tile *ahead;

/* Aligned to 8 bytes if there is room for it, and to elements. */
static uint32_t aligned(uint32_t bytes, uint32_t size)
{
    return bytes >= 8 ? bytes / 8 * 8 : bytes / size * size;
}

/* From the buffer of a message to that of the next one. */
static uint32_t apart(const struct partita_action *action)
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
    const uint32_t bytes = joining.left < joining.most ? joining.left : joining.most;
    tile->own = joining.own;
    tile->bytes = bytes;
    tile->join.own = l1;
    tile->join.received = l1 + bytes;
    tile->join.count = (int32_t)joining.count;
    tile->join.elements = (int32_t)(bytes / joining.exchange->element_bytes);
    partita_load_start(&tile->moved, l1, joining.own, bytes);
    await(&receives, joining.all);
    partita_load_lines_start(&tile->received, l1 + bytes, joining.received, joining.count, bytes, joining.apart);
    joining.own += bytes;
    joining.received += bytes;
    joining.left -= bytes;
    joining.turn++;
    return tile;
}

/* Loads the first tile of own elements and of those that `count` messages hold for them from `received` on. */
static struct tile *begin(const struct partita_exchange *exchange, const struct partita_action *action, uint32_t count,
                          struct partita_slice slice, const uint8_t *received, uint32_t all)
{
    const uint32_t size = exchange->element_bytes;
    const uint32_t half = aligned(exchange->workspace_bytes / 2, size);
    const uint32_t room = aligned(half / (count + 1), size);
    joining = (struct joining){.exchange = exchange,
                               .combine = action->combine,
                               .own = place(exchange, slice),
                               .received = received,
                               .apart = apart(action),
                               .count = count,
                               .all = all,
                               .left = slice.size * size,
                               .half = half,
                               .most = room < TILE ? room : TILE};
    return load();
}

/* Joins a slice from a tile on: the next one is loaded, and the one before stored, while the team joins one. */
static PARTITA_COMPACT void join(struct tile *tile)
{
    struct tile *before = 0;
    while (tile != 0) {
        partita_transfer_wait(&tile->moved);
        partita_transfer_wait(&tile->received);
        partita_team_start(joining.combine, &tile->join);
        if (before != 0) {
            partita_transfer_wait(&before->moved);
        }
        struct tile *next = load();
        partita_team_wait();
        partita_store_start(&tile->moved, tile->own, tile->join.own, tile->bytes);
        before = tile;
        tile = next;
    }
    partita_transfer_wait(&before->moved);
}

/* Joins all slices of messages that have the same ones. */
static void join_slices(const struct partita_exchange *exchange, const struct partita_action *action, uint32_t count,
                        const uint8_t *data, uint32_t all)
{
    if (action->slice_count == 0) {
        join(ahead != 0 ? ahead : begin(exchange, action, count, action->slice, data, all));
        ahead = 0;
    }
    for (uint32_t i = 0; i < action->slice_count; i++) {
        join(begin(exchange, action, count, action->slices[i], data, all));
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
    if (action->slice_count == 0) {
        partita_probe_data(place(exchange, action->slice), action->bytes);
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
static uint32_t at_once(const struct partita_exchange *exchange, uint32_t messages)
{
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
    ahead = begin(exchange, action, count, action->slice, data_of(exchange, action), receives.ended + count);
}

static void finish(const struct partita_exchange *exchange, const struct partita_action *action)
{
    uint8_t *data = data_of(exchange, action);
    if (action->combine == 0) {
        await(&receives, receives.ended + 1);
        pack(exchange, action, data);
        record(exchange, action, 0u);
        return;
    }
    for (uint32_t done = 0, count; done < action->messages; done += count) {
        count = at_once(exchange, action->messages - done);
        join_slices(exchange, action, count, data + done * apart(action), receives.ended + count);
        record(exchange, action, done);
    }
}

static void start(const struct partita_exchange *exchange, const struct partita_action *action)
{
    uint8_t *data = data_of(exchange, action);
    if (action->kind == PARTITA_POST) {
        partita_probe_begin(PARTITA_PROBE_RECEIVE, action->step, action->chip, action->bytes);
        partita_receive_start(next_of(&receives, action->chip), action->chip, data, action->bytes);
        return;
    }
    pack(exchange, action, data);
    partita_probe_begin(PARTITA_PROBE_SEND, action->step, action->chip, action->bytes);
    partita_probe_data(data, action->bytes);
    partita_send_start(next_of(&sends, action->chip), action->chip, data, action->bytes);
}

void partita_exchange(const struct partita_exchange *exchange)
{
    const uint8_t *operand = exchange->operand;
    uint8_t *result = exchange->result;
    sends.started = 0;
    sends.ended = 0;
    receives.started = 0;
    receives.ended = 0;
    if (exchange->copying == 0) {
        partita_preload_start();
    } else {
        partita_preload_some();
    }
    for (uint32_t i = 0; i < exchange->before_count && exchange->before != 0; i++) {
        const uint32_t bytes = exchange->before[i].size * exchange->element_bytes;
        copy(exchange, place(exchange, exchange->before[i]), operand, bytes);
        operand += bytes;
    }
    for (uint32_t i = 0; i < exchange->action_count; i++) {
        const struct partita_action *action = &exchange->actions[i];
        await(&sends, action->ended);
        if (action->kind == PARTITA_FINISH) {
            finish(exchange, action);
        } else if (action->kind == PARTITA_LOAD) {
            load_ahead(exchange, action);
        } else {
            start(exchange, action);
        }
        if (i + 1 == exchange->copying) {
            partita_preload_start();
        }
    }
    await(&sends, sends.started);
    for (uint32_t i = 0; i < exchange->after_count && exchange->after != 0; i++) {
        const uint32_t bytes = exchange->after[i].size * exchange->element_bytes;
        copy(exchange, result, place(exchange, exchange->after[i]), bytes);
        result += bytes;
    }
    partita_preload_start();
}
