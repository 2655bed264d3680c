/*
 * The program on a host: cores as threads, each chip a process.
 *
 *   PROGRAM [--chip I --chips N --links FOLDER [--bandwidth BYTES_PER_SECOND] [--latency NANOSECONDS]]
 *           [--l3 FILE] [--input FILE] [--output FILE] [--transfers late|early] [--report FILE]
 *
 * Without files, the input is the standard input and the output the standard output.
 * Chips find each other by sockets in the folder. Late transfers, the default, copy when they're waited for and early
 * ones when they start; a program that is right gives the same with both. The report is JSON: cycles and bytes moved.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "posix.h"

_Alignas(16) uint8_t partita_l1[PARTITA_L1_BYTES];
_Alignas(16) uint8_t partita_l2[PARTITA_L2_BYTES];

struct partita_options partita_options = {.chips = 1};
struct partita_traffic partita_moved;

static struct timespec began;
static FILE *input;
static FILE *output;

int32_t partita_chip(void)
{
    return partita_options.chip;
}

int32_t partita_chips(void)
{
    return partita_options.chips;
}

const struct partita_traffic *partita_traffic(void)
{
    return &partita_moved;
}

uint64_t partita_cycles(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)(now.tv_sec - began.tv_sec) * 1000000000u + (uint64_t)now.tv_nsec - (uint64_t)began.tv_nsec;
}

_Noreturn void partita_fail(const char *message)
{
    fprintf(stderr, "chip %d: %s\n", (int)partita_options.chip, message);
    exit(70);
}

static FILE *opened(const char *name, const char *mode)
{
    FILE *file = fopen(name, mode);
    if (file == NULL) {
        fprintf(stderr, "%s: ", name);
        partita_fail("the file can't be opened");
    }
    return file;
}

int32_t partita_input_read(void *l2, uint32_t bytes)
{
    const size_t count = fread(l2, 1, bytes, input);
    if (ferror(input) || (count > 0 && count < bytes)) {
        partita_fail("the input can't be read, or ends early");
    }
    return count == bytes;
}

void partita_output_write(const void *l2, uint32_t bytes)
{
    if (fwrite(l2, 1, bytes, output) != bytes || fflush(output) != 0) {
        partita_fail("the output can't be written");
    }
}

static uint64_t number(const char *text)
{
    char *end;
    const unsigned long long value = strtoull(text, &end, 10);
    if (end == text || *end != '\0') {
        partita_fail("an option needs a number");
    }
    return value;
}

static void read_option(const char *name, const char *value)
{
    if (strcmp(name, "--chip") == 0) {
        partita_options.chip = (int32_t)number(value);
    } else if (strcmp(name, "--chips") == 0) {
        partita_options.chips = (int32_t)number(value);
    } else if (strcmp(name, "--links") == 0) {
        partita_options.links = value;
    } else if (strcmp(name, "--bandwidth") == 0) {
        partita_options.bytes_per_second = number(value);
    } else if (strcmp(name, "--latency") == 0) {
        partita_options.latency = number(value);
    } else if (strcmp(name, "--l3") == 0) {
        partita_options.l3 = value;
    } else if (strcmp(name, "--input") == 0) {
        partita_options.input = value;
    } else if (strcmp(name, "--output") == 0) {
        partita_options.output = value;
    } else if (strcmp(name, "--transfers") == 0) {
        partita_options.early = strcmp(value, "early") == 0;
    } else if (strcmp(name, "--report") == 0) {
        partita_options.report = value;
    } else {
        partita_fail("options: --chip --chips --links --bandwidth --latency --l3 --input --output --transfers "
                     "--report, each with a value");
    }
}

static void write_report(void)
{
    FILE *report = fopen(partita_options.report, "w");
    if (report == NULL) {
        partita_fail("the report can't be written");
    }
    fprintf(report, "{\"chip\": %d, \"cycles\": %llu, \"l2_l1\": %llu, \"l3_l2\": %llu, \"received\": %llu, \"sent\": ",
            (int)partita_options.chip, (unsigned long long)partita_cycles(), (unsigned long long)partita_moved.l2_l1,
            (unsigned long long)partita_moved.l3_l2, (unsigned long long)partita_moved.received);
    partita_report_links(report);
    fprintf(report, "}\n");
    if (fclose(report) != 0) {
        partita_fail("the report can't be written");
    }
}

int main(int argc, char **argv)
{
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (int i = 1; i < argc; i += 2) {
        read_option(argv[i], i + 1 < argc ? argv[i + 1] : "");
    }
    if (partita_options.l3 != NULL) {
        partita_load_l3(partita_options.l3);
    }
    input = partita_options.input == NULL ? stdin : opened(partita_options.input, "rb");
    output = partita_options.output == NULL ? stdout : opened(partita_options.output, "wb");
    partita_connect_chips();
    partita_start_team();
    const int32_t code = partita_main();
    partita_stop_team();
    if (fclose(output) != 0) {
        partita_fail("the output can't be written");
    }
    if (partita_options.report != NULL) {
        write_report();
    }
    return code;
}
