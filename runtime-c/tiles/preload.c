#include "preload.h"

/*
 * What an exchange starts with: it takes less time than the first message to arrive. And what it starts while it waits,
 * so that its own transfers wait only briefly.
 */
enum { SOME = 16384, PIECE = 1024 };

static PARTITA_NEAR struct {
    struct partita_box *box;
    uint8_t *l1;
    const uint8_t *l2;
    uint32_t bytes;
} next;

void partita_preload(struct partita_box *box, uint8_t *l1, const uint8_t *l2, uint32_t bytes)
{
    next.box = box;
    next.l1 = l1;
    next.l2 = l2;
    next.bytes = bytes;
}

static void start(uint32_t bytes)
{
    partita_box_load_start(next.box, next.l1, next.l2, 0, 0, bytes);
    next.l1 += bytes;
    next.l2 += bytes;
    next.bytes -= bytes;
    if (next.bytes == 0) {
        next.box = 0;
    }
}

void partita_preload_start(void)
{
    if (next.box != 0) {
        start(next.bytes);
    }
}

static void start_at_most(uint32_t bytes)
{
    if (next.box != 0) {
        start(next.bytes < bytes ? next.bytes : bytes);
    }
}

void partita_preload_some(void)
{
    start_at_most(SOME);
}

void partita_preload_piece(void)
{
    start_at_most(PIECE);
}

int32_t partita_preload_waits(void)
{
    return next.box != 0;
}
