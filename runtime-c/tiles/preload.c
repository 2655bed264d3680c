#include "preload.h"

/* What was asked for, and the number of the first one that hasn't been started as a whole. */
static PARTITA_NEAR struct {
    struct {
        struct partita_box *box;
        uint8_t *l1;
        const uint8_t *l2;
        uint32_t bytes;
    } asked[PARTITA_PRELOADS];
    uint32_t first;
    uint32_t count;
} queue;

void partita_preload(struct partita_box *box, uint8_t *l1, const uint8_t *l2, uint32_t bytes)
{
    const uint32_t last = (queue.first + queue.count++) % PARTITA_PRELOADS;
    queue.asked[last].box = box;
    queue.asked[last].l1 = l1;
    queue.asked[last].l2 = l2;
    queue.asked[last].bytes = bytes;
}

/* Returns how many bytes it starts. */
static uint32_t start(uint32_t most)
{
    const uint32_t first = queue.first;
    const uint32_t bytes = queue.asked[first].bytes < most ? queue.asked[first].bytes : most;
    partita_box_load_start(queue.asked[first].box, queue.asked[first].l1, queue.asked[first].l2, 0, 0, bytes);
    queue.asked[first].l1 += bytes;
    queue.asked[first].l2 += bytes;
    queue.asked[first].bytes -= bytes;
    if (queue.asked[first].bytes == 0) {
        queue.first = (first + 1) % PARTITA_PRELOADS;
        queue.count--;
    }
    return bytes;
}

void partita_preload_start(void)
{
    while (queue.count > 0) {
        start(queue.asked[queue.first].bytes);
    }
}

void partita_preload_part(uint32_t most)
{
    while (most > 0 && queue.count > 0 && partita_box_has_room(queue.asked[queue.first].box)) {
        most -= start(most);
    }
}

int32_t partita_preload_waits(void)
{
    return queue.count > 0;
}
