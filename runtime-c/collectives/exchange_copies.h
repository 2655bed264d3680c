/* Where the elements of an exchange are, and its copies of them within L2, for the files of exchange.h. */
#ifndef PARTITA_EXCHANGE_COPIES_H
#define PARTITA_EXCHANGE_COPIES_H

#include "exchange_messages.h"

static inline uint32_t partita_least(uint32_t one, uint32_t other)
{
    return one < other ? one : other;
}

/* Where a slice is in the vector. */
PARTITA_INLINE uint8_t *partita_slice_place(const struct partita_exchange *exchange, struct partita_slice slice)
{
    return exchange->vector + (size_t)slice.start * exchange->element_bytes;
}

/* Where byte `at` of the result is. Mostly this is its first one: a division takes as long as 30 other instructions. */
static inline uint8_t *partita_result_place(const struct partita_exchange *exchange, uint32_t at)
{
    const uint32_t line = exchange->line_bytes;
    return (uint8_t *)exchange->result + (line == 0 || at == 0 ? at : at / line * exchange->line_stride + at % line);
}

/* How many of `most` bytes of the result, from `at` on, a single transfer can store: within a line, or whole lines. */
uint32_t partita_result_part(const struct partita_exchange *exchange, uint32_t at, uint32_t most);

/* Starts to store such a part. */
void partita_store_result(struct partita_transfer *transfer, const struct partita_exchange *exchange, uint32_t at,
                          const void *l1, uint32_t bytes);

/* Copies the operand to the vector. */
void partita_copy_operand(const struct partita_exchange *exchange);

/* Copies the slices of an action to where their message is, or from there. */
void partita_copy_slices(const struct partita_exchange *exchange, const struct partita_action *action);

/* Copies the elements that the chip is to have from the vector to the result. */
void partita_copy_result(const struct partita_exchange *exchange);

#endif
