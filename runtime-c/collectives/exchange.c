#include "exchange.h"

#include "../hal/probe.h"

/* Copies within L2, through the workspace. */
static void copy(const struct partita_exchange *exchange, void *to, const void *from, uint32_t bytes)
{
    uint32_t done = 0;
    while (done < bytes) {
        uint32_t part = bytes - done < exchange->workspace_bytes ? bytes - done : exchange->workspace_bytes;
        struct partita_transfer transfer;
        part = part < PARTITA_TRANSFER_LIMIT ? part : PARTITA_TRANSFER_LIMIT;
        partita_load_start(&transfer, exchange->workspace, (const uint8_t *)from + done, part);
        partita_transfer_wait(&transfer);
        partita_store_start(&transfer, (uint8_t *)to + done, exchange->workspace, part);
        partita_transfer_wait(&transfer);
        done += part;
    }
}

static uint8_t *place(const struct partita_exchange *exchange, struct partita_slice slice)
{
    return (uint8_t *)exchange->vector + (size_t)slice.start * exchange->element_bytes;
}

/* Whether a message is sent from the vector, or received into it. */
static int32_t is_in_place(const struct partita_step *step)
{
    return step->slice_count == 1 && step->combine == 0;
}

static uint8_t *data_of(const struct partita_exchange *exchange, const struct partita_step *step)
{
    return is_in_place(step) ? place(exchange, step->slices[0]) : (uint8_t *)exchange->message + step->place;
}

static PARTITA_COMPACT void start(const struct partita_exchange *exchange, const struct partita_step *step,
                                  uint32_t number, struct partita_message *message)
{
    uint8_t *data = data_of(exchange, step);
    if (!step->is_send) {
        partita_probe_begin(PARTITA_PROBE_RECEIVE, number, step->chip, step->bytes);
        partita_receive_start(message, step->chip, data, step->bytes);
        return;
    }
    for (uint32_t i = 0, at = 0; i < step->slice_count && !is_in_place(step); i++) {
        const uint32_t part = step->slices[i].size * exchange->element_bytes;
        copy(exchange, data + at, place(exchange, step->slices[i]), part);
        at += part;
    }
    partita_probe_begin(PARTITA_PROBE_SEND, number, step->chip, step->bytes);
    partita_probe_data(data, step->bytes);
    partita_send_start(message, step->chip, data, step->bytes);
}

/*
 * Joins own elements of a slice with those that `count` messages hold at the same offset, tile by tile: own and received
 * tiles divide the workspace. Waits for the messages when it begins with their first slice.
 */
static PARTITA_COMPACT void join(const struct partita_exchange *exchange, const struct partita_step *steps,
                                 uint32_t count, struct partita_message *messages, struct partita_slice slice,
                                 uint32_t offset)
{
    const uint32_t size = exchange->element_bytes;
    /* Tiles begin aligned to 8 bytes, if there is room for it. */
    const uint32_t part = exchange->workspace_bytes / (count + 1);
    const uint32_t aligned = part >= 8 ? part / 8 * 8 : part / size * size;
    const uint32_t limit = aligned < PARTITA_TRANSFER_LIMIT ? aligned : PARTITA_TRANSFER_LIMIT;
    const uint32_t most = limit / size;
    uint8_t *left = exchange->workspace;
    for (uint32_t done = 0; done < slice.size; done += most) {
        const uint32_t elements = slice.size - done < most ? slice.size - done : most;
        uint8_t *own = place(exchange, slice) + done * size;
        struct partita_transfer owned;
        struct partita_transfer received[PARTITA_TOGETHER];
        struct partita_join joined = {.own = left, .count = (int32_t)count, .elements = (int32_t)elements};
        partita_load_start(&owned, left, own, elements * size);
        for (uint32_t i = 0; i < count; i++) {
            uint8_t *right = left + (i + 1) * aligned;
            if (offset == 0 && done == 0) {
                partita_message_wait(&messages[i]);
            }
            joined.received[i] = right;
            partita_load_start(&received[i], right, data_of(exchange, &steps[i]) + offset + done * size, elements * size);
        }
        partita_transfer_wait(&owned);
        for (uint32_t i = 0; i < count; i++) {
            partita_transfer_wait(&received[i]);
        }
        partita_team_run(steps->combine, &joined);
        partita_store_start(&owned, own, left, elements * size);
        partita_transfer_wait(&owned);
    }
}

/* Ends the messages of a step and of those that are joined with it. Returns how many they are. */
static PARTITA_COMPACT uint32_t finish(const struct partita_exchange *exchange, const struct partita_step *step,
                                       uint32_t number, struct partita_message *messages)
{
    uint32_t count = 1;
    if (step->combine != 0) {
#ifndef PARTITA_PROBES
        /* With probes, a record has what a message left in L2. */
        const uint32_t most = exchange->workspace_bytes / exchange->element_bytes - 1;
        count = step->joined < most ? step->joined : most;
#endif
        for (uint32_t i = 0, offset = 0; i < step->slice_count; i++) {
            join(exchange, step, count, messages, step->slices[i], offset);
            offset += step->slices[i].size * exchange->element_bytes;
        }
    } else {
        const uint8_t *data = data_of(exchange, step);
        partita_message_wait(messages);
        for (uint32_t i = 0; i < step->slice_count && !step->is_send && !is_in_place(step); i++) {
            const uint32_t bytes = step->slices[i].size * exchange->element_bytes;
            copy(exchange, place(exchange, step->slices[i]), data, bytes);
            data += bytes;
        }
    }
    if (!step->is_send) {
        partita_probe_begin(PARTITA_PROBE_RECEIVED, number, step->chip, step->bytes);
        for (uint32_t i = 0; i < step->slice_count; i++) {
            partita_probe_data(place(exchange, step->slices[i]), step->slices[i].size * exchange->element_bytes);
        }
    }
    return count;
}

/* Tables are read often: from copies, which are in the same memory as the stack. */
void partita_exchange(const struct partita_exchange *table)
{
    const struct partita_exchange copied = *table;
    const struct partita_exchange *exchange = &copied;
    const uint8_t *operand = exchange->operand;
    uint8_t *result = exchange->result;
    for (uint32_t i = 0; i < exchange->before_count && exchange->before != 0; i++) {
        const uint32_t bytes = exchange->before[i].size * exchange->element_bytes;
        copy(exchange, place(exchange, exchange->before[i]), operand, bytes);
        operand += bytes;
    }
    for (uint32_t first = 0, together; first < exchange->step_count; first += together) {
        struct partita_step steps[PARTITA_TOGETHER];
        struct partita_message messages[PARTITA_TOGETHER];
        together = exchange->steps[first].together;
        __builtin_memcpy(steps, &exchange->steps[first], together * sizeof *steps);
        for (uint32_t i = 0; i < together; i++) {
            start(exchange, &steps[i], first + i, &messages[i]);
        }
        for (uint32_t i = 0; i < together;) {
            i += finish(exchange, &steps[i], first + i, &messages[i]);
        }
    }
    for (uint32_t i = 0; i < exchange->after_count && exchange->after != 0; i++) {
        const uint32_t bytes = exchange->after[i].size * exchange->element_bytes;
        copy(exchange, result, place(exchange, exchange->after[i]), bytes);
        result += bytes;
    }
}
