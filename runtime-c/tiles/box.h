/*
 * Parts of tensors in L2 as tiles in L1.
 *
 * A box consists of lines of a tensor: its rows, the rows of its matrices and so on, with one stride per dimension.
 * In L1 the lines are dense, in the order of the dimensions. A box is moved by as few transfers as possible:
 * dimensions that are dense in L2 are merged, the innermost of the others is one transfer of lines, and larger
 * transfers than the limit are cut.
 *
 * A box is static and starts as zeros; hal.h's rules for transfers apply to it as a whole. If a box needs more
 * transfers than it has room for, starting it waits for the oldest ones, so only the last ones run concurrently.
 */
#ifndef PARTITA_BOX_H
#define PARTITA_BOX_H

#include "../hal/hal.h"

enum { PARTITA_BOX_TRANSFERS = 2, PARTITA_BOX_DIMENSIONS = 8 };

struct partita_box {
    struct partita_transfer transfers[PARTITA_BOX_TRANSFERS];
    uint32_t started;
    uint32_t waited;
};

/* Strides are in bytes. */
struct partita_box_dimension {
    int32_t size;
    int32_t stride;
};

/*
 * L2 -> L1: lines of line_bytes bytes in `count` dimensions, outermost first, at most PARTITA_BOX_DIMENSIONS;
 * null for a single line. All sizes are 1 or more.
 */
void partita_box_load_start(struct partita_box *box, uint8_t *l1, const uint8_t *l2,
                            const struct partita_box_dimension *dimensions, int32_t count, uint32_t line_bytes);

/* L1 -> L2, likewise. */
void partita_box_store_start(struct partita_box *box, uint8_t *l2, const uint8_t *l1,
                             const struct partita_box_dimension *dimensions, int32_t count, uint32_t line_bytes);

/* The same for `count` lines with one stride in L2, in bytes, that one transfer can move. */
void partita_box_load_lines(struct partita_box *box, uint8_t *l1, const uint8_t *l2, uint32_t count, uint32_t line_bytes,
                            uint32_t stride);
void partita_box_store_lines(struct partita_box *box, uint8_t *l2, const uint8_t *l1, uint32_t count,
                             uint32_t line_bytes, uint32_t stride);

/* The same for planes of such lines. */
void partita_box_load_planes(struct partita_box *box, uint8_t *l1, const uint8_t *l2, const struct partita_planes *planes);
void partita_box_store_planes(struct partita_box *box, uint8_t *l2, const uint8_t *l1, const struct partita_planes *planes);

/* Whether one more transfer can be started without waiting for another. */
int32_t partita_box_has_room(const struct partita_box *box);

/* Waits until the box has been moved; does nothing if it was already awaited or never started. */
void partita_box_wait(struct partita_box *box);

/* Fills L2 with zeros. */
void partita_clear(uint8_t *l2, uint32_t bytes);

/* An integer in L2, for the control core. */
static inline int32_t partita_scalar_i64(const uint8_t *l2)
{
    return (int32_t) * (const int64_t *)(const void *)l2;
}

static inline int32_t partita_scalar_i32(const uint8_t *l2)
{
    return *(const int32_t *)(const void *)l2;
}

static inline int32_t partita_smaller(int32_t x, int32_t y)
{
    return x < y ? x : y;
}

static inline int32_t partita_larger(int32_t x, int32_t y)
{
    return x > y ? x : y;
}

/* x / y rounded down, for y > 0. */
static inline int32_t partita_quotient(int32_t x, int32_t y)
{
    return x / y - (x % y < 0);
}

#endif
