/*
 * Weights that are copied to L1 ahead of their loop. The DMA serves transfers one after the other, so another loop starts
 * one when its own last tile has arrived and the cores compute, and an exchange while it waits for messages: a part at
 * its beginning, pieces during each wait, and the rest when it has no more transfers of its own.
 */
#ifndef PARTITA_PRELOAD_H
#define PARTITA_PRELOAD_H

#include "box.h"

/* Has the next partita_preload_start copy bytes from L2 to L1, as a part of a box, which is awaited as a whole. */
void partita_preload(struct partita_box *box, uint8_t *l1, const uint8_t *l2, uint32_t bytes);

/* Starts what was asked for last, as far as it hasn't been started. */
void partita_preload_start(void);

/* Starts a part of it, for which other transfers wait only briefly. */
void partita_preload_some(void);

/* Starts a small piece of it, and waits for the one before the last, so that only two are under way. */
void partita_preload_piece(void);

/* Whether there is something that hasn't been started. */
int32_t partita_preload_waits(void);

#endif
