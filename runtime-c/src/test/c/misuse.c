/* Does what the input's first u32 says, against the rules of hal.h, and ends with 0 if a port doesn't mind. */
#include "../../../hal/hal.h"

enum misuse {
    TOO_LONG_A_TRANSFER,
    SECOND_WAIT,
    OUTSIDE_OF_L1,
    UNALIGNED_L3,
    BEYOND_L3,
    NO_SUCH_CHIP,
    OTHER_SIZE, /* chip 0 sends more than chip 1 expects */
    STORE_TO_NOTHING,
    LARGE_STACK
};

static volatile uintptr_t nothing = 16;

static void store_to_nothing(const void *arguments, int32_t core, int32_t cores)
{
    (void)arguments;
    if (core == cores - 1) {
        *(volatile uint32_t *)nothing = 1;
    }
}

/* The frames of `depth` calls, of 900 bytes and a little more each. */
static __attribute__((noinline)) int32_t use_frames(int32_t depth)
{
    volatile uint8_t frame[900];
    for (uint32_t i = 0; i < sizeof frame; i++) {
        frame[i] = (uint8_t)depth;
    }
    const int32_t below = depth > 0 ? use_frames(depth - 1) : 0;
    return below + frame[0];
}

static void use_stack(const void *arguments, int32_t core, int32_t cores)
{
    int32_t *result = *(int32_t *const *)arguments;
    if (core == cores - 1) {
        *result = use_frames(32);
    }
}

static void send_other_size(void)
{
    struct partita_message message;
    if (partita_chip() == 0) {
        partita_send_start(&message, 1, partita_l2, 20);
    } else {
        partita_receive_start(&message, 0, partita_l2, 16);
    }
    partita_message_wait(&message);
}

int32_t partita_main(void)
{
    struct partita_transfer transfer;
    struct partita_message message;
    int32_t *result = (int32_t *)(void *)partita_l1;
    uint32_t misuse = 0;
    partita_input_read(&misuse, sizeof misuse);
    switch ((enum misuse)misuse) {
    case TOO_LONG_A_TRANSFER:
        partita_load_start(&transfer, partita_l1, partita_l2, PARTITA_TRANSFER_LIMIT + 1);
        break;
    case SECOND_WAIT:
        partita_load_start(&transfer, partita_l1, partita_l2, 4);
        partita_transfer_wait(&transfer);
        partita_transfer_wait(&transfer);
        break;
    case OUTSIDE_OF_L1:
        partita_store_start(&transfer, partita_l2, partita_l1 + PARTITA_L1_BYTES - 4, 5);
        break;
    case UNALIGNED_L3:
        partita_fetch_start(&transfer, partita_l2, 2, 4);
        break;
    case BEYOND_L3:
        partita_spill_start(&transfer, PARTITA_L3_BYTES - 4, partita_l2, 8);
        break;
    case NO_SUCH_CHIP:
        partita_send_start(&message, partita_chips(), partita_l2, 4);
        break;
    case OTHER_SIZE:
        send_other_size();
        break;
    case STORE_TO_NOTHING:
        partita_team_run(store_to_nothing, 0);
        break;
    case LARGE_STACK:
        partita_team_run(use_stack, &result);
        break;
    }
    return 0;
}
