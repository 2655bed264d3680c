/*
 * With -DPARTITA_PROBES, a program writes records to its output between its results: after each step the values
 * that the step left in L2, and within a collective each message. Without it, nothing is compiled in.
 *
 * A record has five words (a mark, the kind, a number, a chip and the number of bytes), followed by the bytes, except
 * for a receive that begins. Records aren't buffered, so the last one shows how far a program came that stopped or was
 * ended.
 */
#ifndef PARTITA_PROBE_H
#define PARTITA_PROBE_H

#include "hal.h"

#ifdef PARTITA_PROBES

enum { PARTITA_PROBE_DIMENSIONS = 8, PARTITA_PROBE_MARK = 0x50524f42 };

enum partita_probe_kind {
    PARTITA_PROBE_STEP,     /* a step has ended; the values that it wrote, in the order of the table */
    PARTITA_PROBE_SEND,     /* a message to a chip is about to be sent: what it holds */
    PARTITA_PROBE_RECEIVE,  /* a message from a chip is about to be received: no bytes follow */
    PARTITA_PROBE_RECEIVED, /* it has been: the slices of the vector that it changed */
};

/* A value in L2: lines of line_bytes bytes in `count` dimensions, outermost first. Strides are in bytes. */
struct partita_probe {
    int32_t step;
    const uint8_t *l2;
    uint32_t line_bytes;
    int32_t count;
    struct {
        uint32_t size;
        uint32_t stride;
    } dimensions[PARTITA_PROBE_DIMENSIONS];
};

/* Writes the results of a step. The table's entries are in the order of steps; an entry with a null l2 ends it. */
void partita_probe_step(int32_t step, const struct partita_probe *table);

/* Writes a record's words. */
void partita_probe_begin(enum partita_probe_kind kind, uint32_t number, int32_t chip, uint32_t bytes);

/* Writes bytes of the current record. */
static inline void partita_probe_data(const void *l2, uint32_t bytes)
{
    partita_output_write(l2, bytes);
}

#else

#define partita_probe_begin(kind, number, chip, bytes) (void)(number)
#define partita_probe_data(l2, bytes) (void)0

#endif

#endif
