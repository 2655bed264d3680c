/*
 * Weights that are copied to L1 ahead of their loop. The DMA serves transfers one after the other, so another loop starts
 * them when its own last tile has arrived and the cores compute. An exchange that only receives messages in place starts
 * them when it has begun, and another one in parts, then and while it waits for messages, and the rest at its end.
 */
#ifndef PARTITA_PRELOAD_H
#define PARTITA_PRELOAD_H

#include "box.h"

/* The most that are asked for and haven't been started. */
enum { PARTITA_PRELOADS = 4 };

/*
 * Has the next partita_preload_start copy bytes from L2 to L1, behind what was asked for before, as a part of a box, which
 * is awaited as a whole.
 */
void partita_preload(struct partita_box *box, uint8_t *l1, const uint8_t *l2, uint32_t bytes);

/* Starts what was asked for, as far as it hasn't been started. */
void partita_preload_start(void);

/* Starts the first of it, at most so many bytes, as far as that needn't wait for parts that are under way. */
void partita_preload_part(uint32_t most);

/* Whether there is something that hasn't been started. */
int32_t partita_preload_waits(void);

#endif
