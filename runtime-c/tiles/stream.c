#include "stream.h"

#include "../hal/profile.h"

static uint32_t part_of(uint32_t left)
{
    return left < PARTITA_STREAM_PART ? left : PARTITA_STREAM_PART;
}

void partita_stream_fetch_start(struct partita_stream *stream, uint8_t *l2, uint32_t l3, uint32_t bytes)
{
    stream->started = 0;
    for (uint32_t done = 0; done < bytes; done += PARTITA_STREAM_PART) {
        partita_fetch_start(&stream->parts[stream->started++], l2 + done, l3 + done, part_of(bytes - done));
    }
}

static void spill(struct partita_stream *stream, uint32_t l3, const uint8_t *l2, uint32_t bytes)
{
    for (uint32_t done = 0; done < bytes; done += PARTITA_STREAM_PART) {
        partita_spill_start(&stream->parts[stream->started++], l3 + done, l2 + done, part_of(bytes - done));
    }
}

void partita_stream_spill_start(struct partita_stream *stream, uint32_t l3, const uint8_t *l2, uint32_t bytes)
{
    stream->started = 0;
    spill(stream, l3, l2, bytes);
}

static int64_t number_at(const uint8_t *place, int32_t bytes)
{
    return bytes == 8 ? *(const int64_t *)(const void *)place : *(const int32_t *)(const void *)place;
}

/* The first changed line of each part. */
static int32_t first_line(const struct partita_lines *lines)
{
    const int64_t position = number_at(lines->position, lines->position_bytes);
    const int64_t last = lines->capacity - lines->count;
    if (lines->circular) {
        const int64_t rest = position % lines->capacity;
        return (int32_t)(rest < 0 ? rest + lines->capacity : rest);
    }
    return (int32_t)(position < 0 ? 0 : position < last ? position : last);
}

void partita_stream_spill_lines_start(struct partita_stream *stream, const struct partita_lines *lines)
{
    const int32_t first = first_line(lines);
    const int32_t room = lines->capacity - first;
    const int32_t behind = lines->count < room ? lines->count : room;
    const uint32_t from = (uint32_t)first * lines->line_bytes;
    stream->started = 0;
    for (int32_t part = 0; part < lines->parts; part++) {
        const uint32_t begin = (uint32_t)part * (uint32_t)lines->capacity * lines->line_bytes;
        spill(stream, lines->l3 + begin + from, lines->l2 + begin + from, (uint32_t)behind * lines->line_bytes);
        spill(stream, lines->l3 + begin, lines->l2 + begin, (uint32_t)(lines->count - behind) * lines->line_bytes);
    }
}

void partita_stream_wait(struct partita_stream *stream)
{
    const partita_instant began = partita_part_begin();
    for (uint32_t i = 0; i < stream->started; i++) {
        partita_l3_wait(&stream->parts[i]);
    }
    stream->started = 0;
    partita_part_end(PARTITA_L3_WAITS, began);
}

void partita_clear_l3(uint32_t l3, uint32_t bytes)
{
    static _Alignas(PARTITA_L3_ALIGNMENT) const uint8_t zeros[1024];
    for (uint32_t done = 0; done < bytes; done += sizeof zeros) {
        const uint32_t left = bytes - done;
        struct partita_transfer transfer;
        partita_spill_start(&transfer, l3 + done, zeros, left < sizeof zeros ? left : sizeof zeros);
        partita_l3_wait(&transfer);
    }
}

static int64_t index_at(const struct partita_rows *rows, int32_t i)
{
    const int64_t index = number_at(rows->indices + (ptrdiff_t)i * rows->index_bytes, rows->index_bytes);
    return index < 0 ? index + rows->rows : index;
}

static void wait_for_oldest(struct partita_row_fetch *fetch)
{
    partita_l3_wait(&fetch->transfers[fetch->waited++ % PARTITA_ROW_TRANSFERS]);
}

static void fetch_row(struct partita_row_fetch *fetch, uint8_t *l2, uint32_t l3, uint32_t bytes)
{
    for (uint32_t done = 0; done < bytes; done += PARTITA_STREAM_PART) {
        if (fetch->started - fetch->waited == PARTITA_ROW_TRANSFERS) {
            wait_for_oldest(fetch);
        }
        partita_fetch_start(&fetch->transfers[fetch->started++ % PARTITA_ROW_TRANSFERS], l2 + done, l3 + done,
                            part_of(bytes - done));
    }
}

void partita_fetch_rows_start(struct partita_row_fetch *fetch, const struct partita_rows *rows)
{
    for (int32_t i = 0; i < rows->count; i++) {
        const int64_t index = index_at(rows, i);
        uint8_t *l2 = rows->l2 + (size_t)i * rows->row_bytes;
        if (index >= 0 && index < rows->rows) {
            fetch_row(fetch, l2, rows->l3 + (uint32_t)index * rows->row_bytes, rows->row_bytes);
        } else {
            for (uint32_t byte = 0; byte < rows->row_bytes; byte++) {
                l2[byte] = 0;
            }
        }
    }
}

void partita_fetch_rows_wait(struct partita_row_fetch *fetch)
{
    const partita_instant began = partita_part_begin();
    while (fetch->waited != fetch->started) {
        wait_for_oldest(fetch);
    }
    partita_part_end(PARTITA_L3_WAITS, began);
}
