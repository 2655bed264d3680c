/* Transfers between L3 and L2 of any size, and rows of tables in L3. */
#ifndef PARTITA_STREAM_H
#define PARTITA_STREAM_H

#include "../hal/hal.h"

enum { PARTITA_STREAM_PART = PARTITA_TRANSFER_LIMIT / PARTITA_L3_ALIGNMENT * PARTITA_L3_ALIGNMENT };

/*
 * One transfer in parts that the port can move: bytes / PARTITA_STREAM_PART, rounded up; for lines, that many for the
 * lines of each of their parts, and one more if these may wrap.
 */
struct partita_stream {
    struct partita_transfer *parts;
    uint32_t started;
};

/* L3 -> L2 and L2 -> L3; aligned as in hal.h. */
void partita_stream_fetch_start(struct partita_stream *stream, uint8_t *l2, uint32_t l3, uint32_t bytes);
void partita_stream_spill_start(struct partita_stream *stream, uint32_t l3, const uint8_t *l2, uint32_t bytes);

/*
 * The changed lines of a cache, which has parts (for heads) of `capacity` lines each, one after the other, at the same
 * offsets in L2 and L3. In each part, `count` lines from a position on have changed. Circular parts go on with their
 * first line behind the last one; others begin early enough for the lines to fit.
 */
struct partita_lines {
    uint32_t l3;
    const uint8_t *l2;
    int32_t parts;
    int32_t capacity;
    uint32_t line_bytes; /* a multiple of PARTITA_L3_ALIGNMENT */
    int32_t count;
    const uint8_t *position; /* in L2 */
    int32_t position_bytes; /* 4 or 8: i32 or i64 */
    int32_t circular;
};

/* L2 -> L3: a transfer for the lines of each part, two where they wrap. The position is read at once. */
void partita_stream_spill_lines_start(struct partita_stream *stream, const struct partita_lines *lines);

void partita_stream_wait(struct partita_stream *stream);

/* Fills L3 with zeros; no transfer to or from it may be in progress. */
void partita_clear_l3(uint32_t l3, uint32_t bytes);

/* Rows of a table in L3; they are contiguous in L2. */
struct partita_rows {
    uint32_t l3;
    int32_t rows;
    uint32_t row_bytes; /* a multiple of PARTITA_L3_ALIGNMENT */
    const uint8_t *indices;
    int32_t index_bytes; /* 4 or 8: i32 or i64 */
    int32_t count;
    uint8_t *l2;
};

enum { PARTITA_ROW_TRANSFERS = 4 };

/*
 * The transfers of rows on their way. It is static and starts as zeros. If rows need more transfers than it has room
 * for, starting them waits for the oldest ones.
 */
struct partita_row_fetch {
    struct partita_transfer transfers[PARTITA_ROW_TRANSFERS];
    uint32_t started;
    uint32_t waited;
};

/*
 * Starts to fetch the rows, whose indices are read at once. A negative index counts from the end; one out of range
 * gives zeros.
 */
void partita_fetch_rows_start(struct partita_row_fetch *fetch, const struct partita_rows *rows);
void partita_fetch_rows_wait(struct partita_row_fetch *fetch);

#endif
