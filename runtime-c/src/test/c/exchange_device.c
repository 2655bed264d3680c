/*
 * One chip of collectives, one after the other, each of which a test describes by the input, as u32 numbers: the elements and bytes of an
 * element of the vector; bytes of the workspace; bytes to preload behind it; slices before and after, each a count and
 * starts and sizes; actions: how many, up to the last that copies, up to the first that awaits, and up to the first that needs the operand in the vector; each kind, ended, chip, combine (0 replace, 1 add, 2 maximum, 3 minimum), messages, place, what is before it there, and slices; then the
 * operand's bytes. Writes the result's bytes to the output.
 */
#include "../../../collectives/exchange.h"
#include "../../../tiles/preload.h"

enum { BUFFERS = 1 }; /* of the places 0 vector, 1 buffers, 2 operand */

enum {
    MAX_SLICES = 4096,
    MAX_ACTIONS = 1024,
    VECTOR = 0,
    MESSAGE = 1 << 18,
    OPERAND = 2 << 18,
    RESULT = 3 << 18,
    WEIGHTS = 4 << 18
};

static struct partita_slice slices[MAX_SLICES];
static uint32_t used;
static struct partita_action actions[MAX_ACTIONS];

static uint32_t number(void)
{
    uint32_t number;
    if (!partita_input_read(&number, sizeof number)) {
        partita_fail("the description ends early");
    }
    return number;
}

static const struct partita_slice *read_slices(uint32_t *count)
{
    const struct partita_slice *first = &slices[used];
    *count = number();
    for (uint32_t i = 0; i < *count; i++) {
        if (used == MAX_SLICES) {
            partita_fail("too many slices");
        }
        slices[used].start = number();
        slices[used].size = number();
        used++;
    }
    return first;
}

static size_t bytes_of(const struct partita_slice *list, uint32_t count, uint32_t element_bytes)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        bytes += (size_t)list[i].size * element_bytes;
    }
    return bytes;
}

enum kind { SEND, POST, LOAD, FINISH };

static uint8_t kind_of(enum kind kind, int32_t is_joined, uint32_t slice_count)
{
    switch (kind) {
    case SEND:
        return slice_count == 1 ? PARTITA_SEND : PARTITA_SEND_SLICES;
    case POST:
        return PARTITA_POST;
    case LOAD:
        return PARTITA_LOAD;
    default:
        return is_joined ? PARTITA_JOIN : slice_count == 1 ? PARTITA_FINISH : PARTITA_FINISH_SLICES;
    }
}

static struct partita_box weights;

/* Asks for bytes that differ from those before. */
static void preload(uint8_t *l1, uint32_t bytes, uint32_t seed)
{
    for (uint32_t i = 0; i < bytes; i++) {
        partita_l2[WEIGHTS + i] = (uint8_t)(7 * i + seed);
    }
    if (bytes > 0) {
        partita_preload(&weights, l1, partita_l2 + WEIGHTS, bytes);
    }
}

static void verify_preload(const uint8_t *l1, uint32_t bytes)
{
    partita_box_wait(&weights);
    for (uint32_t i = 0; i < bytes; i++) {
        if (l1[i] != partita_l2[WEIGHTS + i]) {
            partita_fail("a byte wasn't preloaded");
        }
    }
}

static void exchange_once(uint32_t elements)
{
    struct partita_exchange exchange = {.actions = actions,
                                        .vector = partita_l2 + VECTOR,
                                        .operand = partita_l2 + OPERAND,
                                        .result = partita_l2 + RESULT,
                                        .workspace = partita_l1};
    used = 0;
    exchange.element_bytes = number();
    exchange.workspace_bytes = number();
    const uint32_t preloaded = number();
    if ((size_t)elements * exchange.element_bytes > MESSAGE) {
        partita_fail("too many elements");
    }
    partita_kernel *const floats[] = {0, partita_join_add_f32, partita_join_max_f32, partita_join_min_f32};
    partita_kernel *const halves[] = {0, partita_join_add_bf16, partita_join_max_bf16, partita_join_min_bf16};
    partita_kernel *const bytes[] = {0, partita_join_add_i8, partita_join_max_i8, partita_join_min_i8};
    exchange.before = read_slices(&exchange.before_count);
    exchange.after = read_slices(&exchange.after_count);
    exchange.action_count = number();
    exchange.copying = number();
    exchange.beginning = number();
    exchange.keeping = number();
    for (uint32_t i = 0; i < exchange.action_count && i < MAX_ACTIONS; i++) {
        struct partita_action *action = &actions[i];
        const uint32_t kind = number();
        action->ended = (uint16_t)number();
        action->chip = (uint16_t)number();
        action->combine = (exchange.element_bytes == 4   ? floats
                         : exchange.element_bytes == 2 ? halves
                                                       : bytes)[number()];
        action->messages = (uint8_t)number();
        const uint32_t place = number();
        action->data = partita_l2 + place * MESSAGE + number() * (place == BUFFERS ? 1 : exchange.element_bytes);
        uint32_t count;
        action->slices = read_slices(&count);
        action->bytes = (uint32_t)bytes_of(action->slices, count, exchange.element_bytes);
        const int32_t is_joined = action->combine != 0 && kind != POST;
        action->kind = kind_of((enum kind)kind, is_joined, count);
        action->slice_count = (uint16_t)(is_joined || count > 1 ? count : 0);
    }
    const size_t given = bytes_of(exchange.before, exchange.before_count, exchange.element_bytes);
    if (given > 0 && !partita_input_read(partita_l2 + OPERAND, (uint32_t)given)) {
        partita_fail("the operand ends early");
    }
    preload(partita_l1 + exchange.workspace_bytes, preloaded, elements);
    partita_exchange(&exchange);
    verify_preload(partita_l1 + exchange.workspace_bytes, preloaded);
    partita_output_write(exchange.result,
                         (uint32_t)bytes_of(exchange.after, exchange.after_count, exchange.element_bytes));
}

int32_t partita_main(void)
{
    uint32_t elements;
    while (partita_input_read(&elements, sizeof elements)) {
        exchange_once(elements);
    }
    return 0;
}
