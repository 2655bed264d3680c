#include "exchange.h"

#include "../hal/probe.h"
#include "../kernels/binary.h"

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

/* own OP received -> own, tile by tile; each takes half of the workspace. */
static void combine(const struct partita_exchange *exchange, partita_kernel *kernel, uint8_t *own,
                    const uint8_t *received, uint32_t elements)
{
    const uint32_t size = exchange->element_bytes;
    /* Halves begin aligned to 8 bytes, if there is room for it. */
    const uint32_t half = exchange->workspace_bytes / 2;
    const uint32_t aligned = half >= 8 ? half / 8 * 8 : half / size * size;
    const uint32_t limit = aligned < PARTITA_TRANSFER_LIMIT ? aligned : PARTITA_TRANSFER_LIMIT;
    const uint32_t most = limit / size;
    uint8_t *left = exchange->workspace;
    uint8_t *right = left + aligned;
    for (uint32_t done = 0; done < elements; done += most) {
        const uint32_t count = elements - done < most ? elements - done : most;
        const struct partita_binary binary = {.left = left,
                                              .right = right,
                                              .out = left,
                                              .extents = {1, 1, 1, 1, 1, (int32_t)count},
                                              .left_strides = {0, 0, 0, 0, 0, 1},
                                              .right_strides = {0, 0, 0, 0, 0, 1}};
        struct partita_transfer first;
        struct partita_transfer second;
        partita_load_start(&first, left, own + (size_t)done * size, count * size);
        partita_load_start(&second, right, received + (size_t)done * size, count * size);
        partita_transfer_wait(&first);
        partita_transfer_wait(&second);
        partita_team_run(kernel, &binary);
        partita_store_start(&first, own + (size_t)done * size, left, count * size);
        partita_transfer_wait(&first);
    }
}

static uint32_t bytes_of(const struct partita_exchange *exchange, const struct partita_step *step)
{
    uint32_t elements = 0;
    for (uint32_t i = 0; i < step->slice_count; i++) {
        elements += step->slices[i].size;
    }
    return elements * exchange->element_bytes;
}

/* A single slice is sent directly from the vector. */
static void send(const struct partita_exchange *exchange, uint32_t number)
{
    const struct partita_step *step = &exchange->steps[number];
    struct partita_message message;
    uint8_t *data = exchange->message;
    if (step->slice_count == 1) {
        data = place(exchange, step->slices[0]);
    } else {
        uint32_t at = 0;
        for (uint32_t i = 0; i < step->slice_count; i++) {
            const uint32_t bytes = step->slices[i].size * exchange->element_bytes;
            copy(exchange, data + at, place(exchange, step->slices[i]), bytes);
            at += bytes;
        }
    }
    partita_probe_begin(PARTITA_PROBE_SEND, number, step->chip, bytes_of(exchange, step));
    partita_probe_data(data, bytes_of(exchange, step));
    partita_send_start(&message, step->chip, data, bytes_of(exchange, step));
    partita_message_wait(&message);
}

/* A single slice that replaces elements is received directly into the vector. */
static void receive(const struct partita_exchange *exchange, uint32_t number)
{
    const struct partita_step *step = &exchange->steps[number];
    struct partita_message message;
    const int32_t is_direct = step->slice_count == 1 && step->combine == 0;
    uint8_t *data = is_direct ? place(exchange, step->slices[0]) : exchange->message;
    partita_probe_begin(PARTITA_PROBE_RECEIVE, number, step->chip, bytes_of(exchange, step));
    partita_receive_start(&message, step->chip, data, bytes_of(exchange, step));
    partita_message_wait(&message);
    for (uint32_t i = 0; i < step->slice_count && !is_direct; i++) {
        const struct partita_slice slice = step->slices[i];
        if (step->combine != 0) {
            combine(exchange, step->combine, place(exchange, slice), data, slice.size);
        } else {
            copy(exchange, place(exchange, slice), data, slice.size * exchange->element_bytes);
        }
        data += slice.size * exchange->element_bytes;
    }
    partita_probe_begin(PARTITA_PROBE_RECEIVED, number, step->chip, bytes_of(exchange, step));
    for (uint32_t i = 0; i < step->slice_count; i++) {
        partita_probe_data(place(exchange, step->slices[i]), step->slices[i].size * exchange->element_bytes);
    }
}

void partita_exchange(const struct partita_exchange *exchange)
{
    const uint8_t *operand = exchange->operand;
    uint8_t *result = exchange->result;
    for (uint32_t i = 0; i < exchange->before_count && exchange->before != 0; i++) {
        const uint32_t bytes = exchange->before[i].size * exchange->element_bytes;
        copy(exchange, place(exchange, exchange->before[i]), operand, bytes);
        operand += bytes;
    }
    for (uint32_t i = 0; i < exchange->step_count; i++) {
        if (exchange->steps[i].is_send) {
            send(exchange, i);
        } else {
            receive(exchange, i);
        }
    }
    for (uint32_t i = 0; i < exchange->after_count && exchange->after != 0; i++) {
        const uint32_t bytes = exchange->after[i].size * exchange->element_bytes;
        copy(exchange, result, place(exchange, exchange->after[i]), bytes);
        result += bytes;
    }
}
