#include "preload.h"

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

void partita_preload_part(uint32_t most)
{
    if (next.box != 0 && partita_box_has_room(next.box)) {
        start(next.bytes < most ? next.bytes : most);
    }
}

int32_t partita_preload_waits(void)
{
    return next.box != 0;
}
