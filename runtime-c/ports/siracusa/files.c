/* Files by semihosting, including the program's input and output, and characters on standard output. */
#include "siracusa.h"

enum { OPEN = 1, CLOSE = 2, WRITE = 5, READ = 6, NAME_BYTES = 32 };

/* The board's register: after a descriptor is written, it reads 1 if reading from that file wouldn't block. */
enum { INPUT = 0x10 };

static int32_t input = -1;
static int32_t output = -1;
static int32_t input_opened;

static int32_t call(uint32_t operation, uintptr_t argument)
{
    register uintptr_t a0 __asm__("a0") = operation;
    register uintptr_t a1 __asm__("a1") = argument;
    __asm__ volatile(".option push\n.option norvc\n"
                     "slli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n"
                     ".option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return (int32_t)a0;
}

static char *append(char *to, const char *text)
{
    while (*text != '\0') {
        *to++ = *text++;
    }
    *to = '\0';
    return to;
}

/* Writes decimal digits; returns the position after them. */
static char *append_number(char *to, uint64_t number)
{
    char digits[21];
    char *first = digits + sizeof digits - 1;
    *first = '\0';
    do {
        *--first = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return append(to, first);
}

int32_t partita_file_open(const char *ending, enum partita_file_mode mode)
{
    char name[NAME_BYTES];
    append(append_number(append(name, "chip"), (uint64_t)partita_chip()), ending);
    uint32_t length = 0;
    while (name[length] != '\0') {
        length++;
    }
    const uintptr_t arguments[] = {(uintptr_t)name, mode, length};
    return call(OPEN, (uintptr_t)arguments);
}

uint32_t partita_file_read(int32_t file, void *l2, uint32_t bytes)
{
    const uintptr_t arguments[] = {(uintptr_t)file, (uintptr_t)l2, bytes};
    const int32_t missing = call(READ, (uintptr_t)arguments);
    return missing < 0 ? 0 : bytes - (uint32_t)missing;
}

uint32_t partita_file_write(int32_t file, const void *l2, uint32_t bytes)
{
    const uintptr_t arguments[] = {(uintptr_t)file, (uintptr_t)l2, bytes};
    const int32_t missing = call(WRITE, (uintptr_t)arguments);
    return missing < 0 ? 0 : bytes - (uint32_t)missing;
}

void partita_file_close(int32_t file)
{
    call(CLOSE, (uintptr_t)file);
}

/* A blocking read would stop all chips of the simulation. */
static void await_input(void)
{
    while (PARTITA_BOARD && read_register(BOARD + INPUT) == 0) {
    }
}

/* A chip without a file has an empty input. */
int32_t partita_input_read(void *l2, uint32_t bytes)
{
    if (!input_opened) {
        input = partita_file_open(".in", FILE_READ);
        input_opened = 1;
        if (PARTITA_BOARD) {
            write_register(BOARD + INPUT, (uint32_t)input);
        }
    }
    await_input();
    const uint32_t count = input < 0 ? 0 : partita_file_read(input, l2, bytes);
    if (count > 0 && count < bytes) {
        partita_fail("the input ends early");
    }
    return count == bytes;
}

void partita_output_write(const void *l2, uint32_t bytes)
{
    if (output < 0) {
        output = partita_file_open(".out", FILE_WRITE);
    }
    if (output < 0 || partita_file_write(output, l2, bytes) != bytes) {
        partita_fail("the output can't be written");
    }
}

void partita_print(const char *text)
{
    while (*text != '\0') {
        *(volatile uint8_t *)(uintptr_t)STANDARD_OUTPUT = (uint8_t)*text++;
    }
}

void partita_print_number(uint64_t number)
{
    char digits[21];
    append_number(digits, number);
    partita_print(digits);
}
