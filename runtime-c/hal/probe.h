/*
 * What a program writes to its output between its results where it's built with -DPARTITA_PROBES: after each step the
 * values that the step has left in L2, and within a collective each message. Without it, nothing is compiled in.
 *
 * A record is five words, a mark, the kind, a number, a chip and how many bytes, and then the bytes, but for a receive
 * that begins. What is written is there even if the program stops or is ended, so that the last record says how far it
 * came. Nothing is buffered.
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

/* A value in L2: lines of line_bytes, of as many dimensions as count says, outermost first. Strides are in bytes. */
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

/* Writes what a step has left. The table's entries are in the order of steps, and the last one's l2 is null. */
void partita_probe_step(int32_t step, const struct partita_probe *table);

/* Writes a record's words. */
void partita_probe_begin(enum partita_probe_kind kind, uint32_t number, int32_t chip, uint32_t bytes);

/* Writes bytes of the record that was begun. */
static inline void partita_probe_data(const void *l2, uint32_t bytes)
{
    partita_output_write(l2, bytes);
}

#else

#define partita_probe_begin(kind, number, chip, bytes) (void)(number)
#define partita_probe_data(l2, bytes) (void)0

#endif

#endif
