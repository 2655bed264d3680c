/* The control core's work before and after the program. */
#include "siracusa.h"

enum { CHIP = 0x0, CHIPS = 0x4, EXIT = 0x8, NOW = 0xC, END_OF_COMPUTATION = 1u << 31, FAILED = 70 };

_Noreturn void partita_run_control(void);
_Noreturn void partita_trap(void);

__attribute__((section(".l1"))) _Alignas(16) uint8_t partita_l1[PARTITA_L1_BYTES];
#ifndef PARTITA_L2_IMAGE
__attribute__((section(".l2"))) _Alignas(16) uint8_t partita_l2[PARTITA_L2_BYTES];
#endif

IN_L1 struct partita_traffic partita_moved;
IN_L1 struct partita_board partita_board;

IN_L1 struct partita_clock partita_clock;

static IN_L1 uint32_t began;

/* The board's clock when the program began. */
static IN_L1 uint32_t board_began;

int32_t partita_chip(void)
{
    return partita_board.chip;
}

int32_t partita_chips(void)
{
    return partita_board.chips;
}

const struct partita_traffic *partita_traffic(void)
{
    partita_count_links(&partita_moved);
    partita_count_transfers(&partita_moved);
    return &partita_moved;
}

uint64_t partita_cycles(void)
{
    const uint32_t now = partita_watch_cycles();
    return ((uint64_t)partita_clock.wraps << 32 | now) - began;
}

static uint32_t board_clock(void)
{
    return PARTITA_BOARD ? read_register(BOARD + NOW) : 0;
}

/* Includes the board's clock at both ends, which relates the chips' cycles to the board's. */
static void print_report(uint64_t cycles)
{
    const uint32_t board_ended = board_clock();
    const struct partita_traffic *moved = partita_traffic();
    partita_print("{\"chip\": ");
    partita_print_number((uint64_t)partita_board.chip);
    partita_print(", \"cycles\": ");
    partita_print_number(cycles);
    partita_print(", \"l2_l1\": ");
    partita_print_number(moved->l2_l1);
    partita_print(", \"l3_l2\": ");
    partita_print_number(moved->l3_l2);
    partita_print(", \"received\": ");
    partita_print_number(moved->received);
    partita_print(", \"sent\": ");
    partita_print_links();
    if (PARTITA_BOARD) {
        partita_print(", \"board\": [");
        partita_print_number(board_began);
        partita_print(", ");
        partita_print_number(board_ended);
        partita_print("]");
    }
    partita_print("}\n");
}

/* The board waits for all chips, or for the first failure. */
_Noreturn void partita_exit(int32_t code)
{
    if (PARTITA_BOARD) {
        write_register(BOARD + EXIT, (uint32_t)code);
    } else {
        write_register(CHIP_STATUS, END_OF_COMPUTATION | (uint32_t)code);
    }
    for (;;) {
        __asm__ volatile("wfi");
    }
}

_Noreturn void partita_fail(const char *message)
{
    partita_print("chip ");
    partita_print_number((uint64_t)partita_board.chip);
    partita_print(": ");
    partita_print(message);
    partita_print("\n");
    partita_exit(FAILED);
}

_Noreturn void partita_trap(void)
{
    partita_fail("the program caused a trap");
}

_Noreturn void partita_run_control(void)
{
    partita_board.chip = PARTITA_BOARD ? (int32_t)read_register(BOARD + CHIP) : 0;
    partita_board.chips = PARTITA_BOARD ? (int32_t)read_register(BOARD + CHIPS) : 1;
    partita_start_links();
    partita_start_team();
    partita_start_l3();
    board_began = board_clock();
    began = partita_counter();
    partita_clock.last = began;
    const int32_t code = partita_main();
    partita_verify_stacks();
    print_report(partita_cycles());
    partita_exit(code);
}
