/*
 * The chip's registers, and declarations that the files of this port share. Addresses are those of GVSoC's target
 * siracusa; undocumented ones are from its models.
 */
#ifndef PARTITA_SIRACUSA_H
#define PARTITA_SIRACUSA_H

#include "../../hal/hal.h"
#include "clock.h"

/* 1 on the board of targets/gvsoc, which connects chips; 0 on GVSoC's own board, which has one chip. */
#ifndef PARTITA_BOARD
#define PARTITA_BOARD 1
#endif

/* The cluster controller, which runs the program; the hardware numbers it after the team's cores. */
enum { CONTROL_CORE = 8 };

_Static_assert(PARTITA_CORES >= 1 && PARTITA_CORES <= CONTROL_CORE, "a Siracusa has 8 cores");

#define EVENT_UNIT 0x10204000u
#define DMA 0x10204400u
#define UDMA_CLOCKS 0x1A102000u
#define HYPERBUS 0x1A102280u
#define HYPERBUS_COMMON 0x1A102380u
#define CHIP_STATUS 0x1A1040A0u
#define STANDARD_OUTPUT 0x1A10F000u
#define BOARD 0x30000000u

/* State of the port that the control core uses often, in L1, since an access to L2 takes 15 cycles. Initially zero. */
#define IN_L1 __attribute__((section(".l1_state")))

static inline uint32_t read_register(uint32_t address)
{
    return *(const volatile uint32_t *)(uintptr_t)address;
}

static inline void write_register(uint32_t address, uint32_t value)
{
    *(volatile uint32_t *)(uintptr_t)address = value;
}

/* A load during which the core sleeps until the event unit answers (elw). */
static inline uint32_t wait_for_event(uint32_t address)
{
    uint32_t value;
    __asm__ volatile(".insn i 0x03, 6, %0, 0(%1)" : "=r"(value) : "r"(address) : "memory");
    return value;
}

extern struct partita_traffic partita_moved;

void partita_start_team(void);

/* Copies L2 -> L1 by the DMA, and waits; for the control core. It doesn't count as traffic of tiles. */
void partita_copy_to_l1(void *l1, const void *l2, uint32_t bytes);

/* Fails if a stack overflowed. */
void partita_verify_stacks(void);

/* The cycle counter when it was read last, and how often it has wrapped. */
extern struct partita_clock {
    uint32_t last;
    uint32_t wraps;
} partita_clock;

/* Reads the 32-bit cycle counter, and records a wrap; must be called periodically. */
static inline uint32_t partita_watch_cycles(void)
{
    const uint32_t now = partita_counter();
    partita_clock.wraps += now < partita_clock.last;
    partita_clock.last = now;
    return now;
}

/* Sets up L3's controller and its clock, and loads L3 from this chip's file if there is one. */
void partita_start_l3(void);

/* Characters on standard output. */
void partita_print(const char *text);
void partita_print_number(uint64_t number);

/* This chip's number, and the number of chips. */
extern struct partita_board {
    int32_t chip;
    int32_t chips;
} partita_board;

/* For the messages between this chip and the others. */
void partita_start_links(void);

/* Add the bytes of messages and of transfers between L2 and L1 that haven't been counted. */
void partita_count_links(struct partita_traffic *traffic);
void partita_count_transfers(struct partita_traffic *traffic);

/* {"1": 4096, "3": 512}: the bytes sent to each chip that received any. */
void partita_print_links(void);

/* Files by semihosting: their names begin with the chip's number. A missing file has the descriptor -1. */
enum partita_file_mode { FILE_READ = 1, FILE_WRITE = 5 };

int32_t partita_file_open(const char *ending, enum partita_file_mode mode);
uint32_t partita_file_read(int32_t file, void *l2, uint32_t bytes); /* how many were left to read */
uint32_t partita_file_write(int32_t file, const void *l2, uint32_t bytes);
void partita_file_close(int32_t file);

_Noreturn void partita_exit(int32_t code);

#endif
