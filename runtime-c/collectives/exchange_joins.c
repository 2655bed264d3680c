#include "exchange_joins.h"

#include "exchange_copies.h"

/* A part of a slice in L1: own elements, and behind them those that each message has at the same place. */
struct tile {
    uint8_t *own; /* in L2 */
    uint32_t bytes;
    struct partita_join join;
    struct partita_transfer moved; /* own elements, in either direction */
    struct partita_transfer received;
};

/* The most bytes of a tile's own elements, so that a message of some KiB has several. */
enum { TILE = 2048 };

/* So many received elements are joined by the control core itself, before the team would have begun. */
enum { ALONE = 32 };

static PARTITA_NEAR struct joining {
    /* The pass. */
    const struct partita_exchange *exchange;
    partita_kernel *combine;
    uint32_t count;       /* of messages */
    uint32_t all;         /* receives that must have ended */
    uint32_t apart;       /* bytes from one message to the next */
    uint32_t half;        /* bytes of the workspace, for a tile */
    int32_t gives_result; /* whether what is joined is stored in the result */
    /* The current slice. */
    uint32_t elements;
    uint32_t bytes;
    uint32_t most; /* bytes of a tile's own elements */
    /* The next tile. */
    uint8_t *own;            /* in L2 */
    const uint8_t *received; /* of the first message, likewise */
    uint32_t left;           /* bytes of the slice from there on */
    uint32_t loaded;         /* bytes of the result in tiles so far */
    uint32_t stored;         /* bytes of the result so far */
    uint32_t turn;
} joining;

static PARTITA_NEAR struct tile tiles[2];

/* The first tile of a pass that has begun. */
static PARTITA_NEAR struct tile *first;

/* Aligned to 8 bytes if there is room for it, and to elements, whose size is a power of two. */
static inline uint32_t aligned(uint32_t bytes, uint32_t size)
{
    return bytes & ~((bytes >= 8 ? 8u : size) - 1);
}

/* Starts to load the next tile, once its messages have arrived; null if there is none. */
static struct tile *load(void)
{
    if (joining.left == 0) {
        return 0;
    }
    struct tile *tile = &tiles[joining.turn % 2];
    uint8_t *l1 = (uint8_t *)joining.exchange->workspace + joining.turn % 2 * joining.half;
    uint32_t bytes = partita_least(joining.left, joining.most);
    /* All elements together are whole lines. */
    if (joining.gives_result && bytes != joining.bytes) {
        bytes = partita_result_part(joining.exchange, joining.loaded, bytes);
    }
    tile->own = joining.own;
    tile->bytes = bytes;
    tile->join.own = l1;
    tile->join.received = l1 + bytes;
    tile->join.count = (int32_t)joining.count;
    tile->join.elements = (int32_t)(bytes == joining.bytes ? joining.elements : bytes / joining.exchange->element_bytes);
    partita_load_start(&tile->moved, l1, joining.own, bytes);
    partita_await(&partita_receives, joining.all);
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

/* Starts to load the first tile of a slice. Inlined, since most passes have a single one. */
PARTITA_INLINE struct tile *begin_slice(struct partita_slice slice)
{
    const uint32_t size = joining.exchange->element_bytes;
    const uint32_t bytes = slice.size * size;
    joining.elements = slice.size;
    joining.bytes = bytes;
    joining.most = bytes;
    joining.own = partita_slice_place(joining.exchange, slice);
    joining.left = bytes;
    if (bytes > TILE || bytes * (joining.count + 1) > joining.half) {
        joining.most = partita_least(aligned(joining.half / (joining.count + 1), size), TILE);
    }
    return load();
}

void partita_join_begin(const struct partita_exchange *exchange, const struct partita_action *action, uint32_t done,
                        uint32_t count)
{
    const uint32_t apart = (action->bytes + 7) / 8 * 8;
    joining.exchange = exchange;
    joining.combine = action->combine;
    joining.count = count;
    joining.all = partita_receives.ended + count;
    joining.apart = apart;
    joining.half = aligned(exchange->workspace_bytes / 2, exchange->element_bytes);
    joining.gives_result = action->gives_result && done + count == action->messages;
    joining.received = action->data + done * apart;
    joining.loaded = 0;
    joining.stored = 0;
    joining.turn = 0;
    first = begin_slice(action->slices[0]);
}

/* Starts to store what has been joined. */
static void store(struct tile *tile)
{
    if (joining.gives_result) {
        partita_store_result(&tile->moved, joining.exchange, joining.stored, tile->join.own, tile->bytes);
        joining.stored += tile->bytes;
    } else {
        partita_store_start(&tile->moved, tile->own, tile->join.own, tile->bytes);
    }
}

/* Joins a slice from its first tile on: while the team joins one, the next one is loaded and the one before is stored. */
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
            partita_pass_sends();
            partita_team_wait();
        }
        store(tile);
        before = tile;
        tile = next;
    }
    partita_transfer_wait(&before->moved);
}

void partita_join_messages(const struct partita_exchange *exchange, const struct partita_action *action, uint32_t done,
                           uint32_t count)
{
    if (first == 0) {
        partita_join_begin(exchange, action, done, count);
    }
    join(first);
    first = 0;
    for (uint32_t i = 1; i < action->slice_count; i++) {
        join(begin_slice(action->slices[i]));
    }
}
