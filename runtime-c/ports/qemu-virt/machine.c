/*
 * One chip as QEMU's RISC-V machine virt, without a C library:
 *
 *   qemu-system-riscv32 $(cat machine.args) -serial stdio -kernel PROGRAM -append "OPTIONS OF ALL PORTS"
 *
 * with at least one hart (-smp) more than PARTITA_CORES. Names of files have no spaces. Cycles are mcycle: the
 * host's, or with -icount shift=0 instructions of all harts.
 */
#include "virt.h"

enum { MAX_WORDS = 64, FINISHED = 0x5555, FAILED = 0x3333 };

static volatile uint8_t *const uart = (volatile uint8_t *)0x10000000;
static volatile uint32_t *const finisher = (volatile uint32_t *)0x00100000;

static uint64_t began;

static uint64_t machine_cycles(void)
{
    uint32_t high;
    uint32_t low;
    uint32_t again;
    do {
        __asm__ volatile("csrr %0, mcycleh\ncsrr %1, mcycle\ncsrr %2, mcycleh" : "=r"(high), "=r"(low), "=r"(again));
    } while (high != again);
    return (uint64_t)high << 32 | low;
}

uint64_t partita_cycles(void)
{
    return machine_cycles() - began;
}

void partita_print(const char *text)
{
    for (; *text != '\0'; text++) {
        while ((uart[5] & 0x20) == 0) {
        }
        uart[0] = (uint8_t)*text;
    }
}

_Noreturn void partita_exit(int32_t code)
{
    *finisher = code == 0 ? FINISHED : (uint32_t)code << 16 | FAILED;
    for (;;) {
    }
}

_Noreturn void partita_begin(void)
{
    char *words[MAX_WORDS];
    began = machine_cycles();
    partita_exit(partita_run(partita_command_line(words, MAX_WORDS), words));
}

static void print_hexadecimal(uint32_t number)
{
    char digits[] = "0x00000000";
    for (int32_t i = 9; i > 1; i--) {
        digits[i] = "0123456789abcdef"[number & 15];
        number >>= 4;
    }
    partita_print(digits);
}

_Noreturn void partita_trapped(uint32_t cause, uint32_t address)
{
    partita_print("trap ");
    print_hexadecimal(cause);
    partita_print(" at ");
    print_hexadecimal(address);
    partita_print("\n");
    partita_fail("the program caused a trap");
}
