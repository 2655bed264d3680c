#include "exchange_copies.h"

uint32_t partita_result_part(const struct partita_exchange *exchange, uint32_t at, uint32_t most)
{
    const uint32_t line = exchange->line_bytes;
    if (line == 0) {
        return most;
    }
    const uint32_t within = at % line;
    return within == 0 && most >= line ? most / line * line : partita_least(most, line - within);
}

void partita_store_result(struct partita_transfer *transfer, const struct partita_exchange *exchange, uint32_t at,
                          const void *l1, uint32_t bytes)
{
    const uint32_t line = exchange->line_bytes;
    uint8_t *to = partita_result_place(exchange, at);
    if (line == 0 || bytes <= line) {
        partita_store_start(transfer, to, l1, bytes);
    } else {
        partita_store_lines_start(transfer, to, l1, bytes / line, line, exchange->line_stride);
    }
}

/* How many of so many bytes the workspace and a transfer take. */
static uint32_t workspace_part(const struct partita_exchange *exchange, uint32_t bytes)
{
    return partita_least(bytes, partita_least(exchange->workspace_bytes, PARTITA_TRANSFER_LIMIT));
}

/* Copies within L2, through the workspace. */
static void copy(const struct partita_exchange *exchange, void *to, const void *from, uint32_t bytes)
{
    uint32_t done = 0;
    while (done < bytes) {
        const uint32_t part = workspace_part(exchange, bytes - done);
        struct partita_transfer transfer;
        partita_load_start(&transfer, exchange->workspace, (const uint8_t *)from + done, part);
        partita_transfer_wait(&transfer);
        partita_store_start(&transfer, (uint8_t *)to + done, exchange->workspace, part);
        partita_transfer_wait(&transfer);
        done += part;
    }
}

void partita_copy_operand(const struct partita_exchange *exchange)
{
    const uint8_t *operand = exchange->operand;
    for (uint32_t i = 0; i < exchange->before_count; i++) {
        const uint32_t bytes = exchange->before[i].size * exchange->element_bytes;
        copy(exchange, partita_slice_place(exchange, exchange->before[i]), operand, bytes);
        operand += bytes;
    }
}

void partita_copy_slices(const struct partita_exchange *exchange, const struct partita_action *action)
{
    const int32_t is_send = action->kind == PARTITA_SEND_SLICES;
    uint8_t *data = action->data;
    for (uint32_t i = 0; i < action->slice_count; i++) {
        const uint32_t bytes = action->slices[i].size * exchange->element_bytes;
        uint8_t *own = partita_slice_place(exchange, action->slices[i]);
        copy(exchange, is_send ? data : own, is_send ? own : data, bytes);
        data += bytes;
    }
}

/* The most slices that are loaded at a time; they follow each other in the result. */
enum { SLICES = 4 };

/* Slices are loaded as far as the workspace has room for them, and stored together. */
void partita_copy_result(const struct partita_exchange *exchange)
{
    const uint32_t room = workspace_part(exchange, ~0u);
    uint32_t at = 0;
    uint32_t done = 0; /* bytes of the slice */
    for (uint32_t i = 0; i < exchange->after_count;) {
        struct partita_transfer loads[SLICES];
        uint32_t count = 0;
        uint32_t loaded = 0;
        while (i < exchange->after_count && count < SLICES && loaded < room && loaded % 4 == 0) {
            const uint32_t left = exchange->after[i].size * exchange->element_bytes - done;
            const uint32_t part = partita_least(left, room - loaded);
            partita_load_start(&loads[count++], (uint8_t *)exchange->workspace + loaded,
                               partita_slice_place(exchange, exchange->after[i]) + done, part);
            loaded += part;
            done = part == left ? 0 : done + part;
            i += done == 0;
        }
        for (uint32_t j = 0; j < count; j++) {
            partita_transfer_wait(&loads[j]);
        }
        for (uint32_t stored = 0, part; stored < loaded; stored += part) {
            struct partita_transfer transfer;
            part = partita_result_part(exchange, at, loaded - stored);
            partita_store_result(&transfer, exchange, at, (uint8_t *)exchange->workspace + stored, part);
            partita_transfer_wait(&transfer);
            at += part;
        }
    }
}
