/*
 * One chip's messages in a collective, in an order that the compiler has proved to be free of deadlock. Tree, ring and
 * direct algorithms are tables of steps.
 *
 * A collective is defined on one vector of elements that all its chips know (ir's Communication.Exchange). A chip keeps
 * the whole vector in L2 during the exchange, although it may hold only a part of it. Steps are in batches of sends or
 * of receives: all messages of a batch are started before the first is awaited, and they end in order. A received slice
 * replaces the chip's own, or is joined with it as own OP received: sums are in the order of the algorithm's contract
 * (ir's Algorithm), and don't depend on batches or on the tiling of slices.
 */
#ifndef PARTITA_EXCHANGE_H
#define PARTITA_EXCHANGE_H

#include "../hal/hal.h"
#include "join.h"

/* Elements start .. start + size - 1 of the vector. */
struct partita_slice {
    uint32_t start;
    uint32_t size;
};

struct partita_step {
    uint32_t together; /* of the first step of a batch: the number of its steps, up to PARTITA_TOGETHER */
    int32_t is_send;
    int32_t chip; /* at the other end */
    uint32_t bytes;
    partita_kernel *combine;            /* of partita_join; null to replace, and to send */
    uint32_t joined; /* with combine: how many steps of the batch from this one on have its slices and kernel */
    const struct partita_slice *slices; /* which elements travel, in this order */
    uint32_t slice_count;
    uint32_t place; /* bytes of partita_exchange's message before the message's own, if it uses them */
};

struct partita_exchange {
    const struct partita_step *steps;
    uint32_t step_count;
    const struct partita_slice *before; /* what the chip has; null if the vector holds it already */
    uint32_t before_count;
    const struct partita_slice *after; /* what it is to have; null if it's to stay in the vector */
    uint32_t after_count;
    uint32_t element_bytes;
    const void *operand;      /* L2: the elements of before, one slice after the other, or null with it */
    void *result;             /* L2: the elements of after, likewise */
    void *vector;             /* L2: all elements; doesn't overlap operand and result */
    void *message;            /* L2: room for a batch's messages of several slices, and for those to combine */
    void *workspace;          /* L1, aligned to 8 bytes */
    uint32_t workspace_bytes; /* at least 2 elements; the more, the fewer transfers */
};

/* Runs all steps. The team must be idle, and no transfer may use the workspace. */
void partita_exchange(const struct partita_exchange *exchange);

#endif
