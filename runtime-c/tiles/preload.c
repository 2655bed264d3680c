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

void partita_preload_start(void)
{
    if (next.box != 0) {
        partita_box_load_start(next.box, next.l1, next.l2, 0, 0, next.bytes);
        next.box = 0;
    }
}
