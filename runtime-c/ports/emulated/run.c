/*
 * Runs a program, from its options to its report. All ports take
 *
 *   [--l3 FILE] [--input FILE] [--output FILE] [--transfers late|early] [--report FILE] [--images verified|any]
 *
 * and the options of their links. A % in a file's name stands for the chip's number. Late transfers, the default,
 * copy when they are awaited, and early ones when they start; a correct program gives the same results with both. The
 * report is JSON: cycles and bytes moved.
 */
#include <stddef.h>

#include "emulated.h"

enum { MAX_NAME_LENGTH = 1000, MAX_MESSAGE_LENGTH = 120, FAILED = 70, PIECE = 1 << 20 };

_Alignas(16) uint8_t partita_l1[PARTITA_L1_BYTES];
#ifndef PARTITA_L2_IMAGE
_Alignas(16) uint8_t partita_l2[PARTITA_L2_BYTES];
#endif
_Alignas(16) uint8_t partita_l3[PARTITA_L3_BYTES];

struct partita_options partita_options = {.chips = 1};
struct partita_traffic partita_moved;

static int32_t input;
static int32_t output;

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

/* Appends a text; returns the end. */
static char *append(char *end, const char *text)
{
    while (*text != '\0') {
        *end++ = *text++;
    }
    *end = '\0';
    return end;
}

/* Appends a number; returns the end. */
static char *append_number(char *end, uint64_t number)
{
    char digits[20];
    int32_t count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (count > 0) {
        *end++ = digits[--count];
    }
    *end = '\0';
    return end;
}

static uint32_t length(const char *text)
{
    uint32_t length = 0;
    while (text[length] != '\0') {
        length++;
    }
    return length;
}

int32_t partita_same_text(const char *first, const char *second)
{
    while (*first != '\0' && *first == *second) {
        first++;
        second++;
    }
    return *first == *second;
}

_Noreturn void partita_fail(const char *message)
{
    /* Printed at once, since other chips print to the same stream. */
    char text[MAX_MESSAGE_LENGTH + 32];
    char *end = append_number(append(text, "chip "), (uint64_t)partita_options.chip);
    end = append(end, ": ");
    for (uint32_t i = 0; message[i] != '\0' && i < MAX_MESSAGE_LENGTH; i++) {
        *end++ = message[i];
    }
    append(end, "\n");
    partita_print(text);
    partita_exit(FAILED);
}

/* With the chip's number for each %. */
static int32_t opened(const char *name, int32_t for_writing)
{
    static char text[MAX_NAME_LENGTH + 21];
    char *end = text;
    for (; name != NULL && *name != '\0'; name++) {
        if (end >= text + MAX_NAME_LENGTH) {
            partita_fail("the name of a file is too long");
        }
        if (*name == '%') {
            end = append_number(end, (uint64_t)partita_options.chip);
        } else {
            *end++ = *name;
        }
    }
    *end = '\0';
    const int32_t file = partita_file_open(name == NULL ? NULL : text, for_writing);
    if (file < 0) {
        partita_print(text);
        partita_print(": ");
        partita_fail("the file can't be opened");
    }
    return file;
}

int32_t partita_input_read(void *l2, uint32_t bytes)
{
    const int64_t count = partita_file_read(input, l2, bytes);
    if (count < 0 || (count > 0 && count < bytes)) {
        partita_fail("the input can't be read, or ends early");
    }
    return count == bytes;
}

void partita_output_write(const void *l2, uint32_t bytes)
{
    if (partita_file_write(output, l2, bytes) != bytes) {
        partita_fail("the output can't be written");
    }
}

#if defined(PARTITA_L2_IMAGE) && !defined(PARTITA_PROBES)
/* The sizes of L2 and L3 files and their checksums; 0 bytes if unknown. */
extern const uint32_t partita_images[4];

static void verify_image(const char *message, const uint8_t *bytes, uint32_t size, const uint32_t *image)
{
    if (image[0] == 0 || partita_options.any_images) {
        return;
    }
    if (image[0] > size || partita_crc32c(bytes, image[0]) != image[1]) {
        partita_fail(message);
    }
}
#endif

static void verify_images(void)
{
#if defined(PARTITA_L2_IMAGE) && !defined(PARTITA_PROBES)
    verify_image("L2 differs from the compiled image: its file is damaged", partita_l2, PARTITA_L2_BYTES, partita_images);
    verify_image("L3 differs from the compiled image: its file is damaged, missing or another chip's", partita_l3,
                 PARTITA_L3_BYTES, partita_images + 2);
#endif
}

static void load_l3(void)
{
    const int32_t image = opened(partita_options.l3, 0);
    uint32_t size = 0;
    int64_t count = 1;
    while (count > 0 && size < PARTITA_L3_BYTES) {
        const uint32_t room = PARTITA_L3_BYTES - size;
        count = partita_file_read(image, partita_l3 + size, room < PIECE ? room : PIECE);
        size += count > 0 ? (uint32_t)count : 0;
    }
    uint8_t more;
    if (count < 0 || partita_file_read(image, &more, 1) != 0) {
        partita_fail("L3's file can't be read, or is larger than L3");
    }
    partita_file_close(image);
}

uint64_t partita_option_number(const char *value)
{
    uint64_t number = 0;
    for (const char *digit = value; *digit != '\0' || digit == value; digit++) {
        if (*digit < '0' || *digit > '9' || number > UINT64_MAX / 10 - 1) {
            partita_fail("an option needs a number");
        }
        number = number * 10 + (uint64_t)(*digit - '0');
    }
    return number;
}

static void read_option(const char *name, const char *value)
{
    if (partita_same_text(name, "--l3")) {
        partita_options.l3 = value;
    } else if (partita_same_text(name, "--input")) {
        partita_options.input = value;
    } else if (partita_same_text(name, "--output")) {
        partita_options.output = value;
    } else if (partita_same_text(name, "--transfers")) {
        partita_options.early = partita_same_text(value, "early");
    } else if (partita_same_text(name, "--report")) {
        partita_options.report = value;
    } else if (partita_same_text(name, "--images")) {
        partita_options.any_images = partita_same_text(value, "any");
    } else if (!partita_link_option(name, value)) {
        partita_print("options: ");
        partita_print(partita_link_options);
        partita_print("--l3 --input --output --transfers --report --images, each with a value\n");
        partita_fail("unknown option");
    }
}

static void write_text(int32_t file, const char *text)
{
    if (partita_file_write(file, text, length(text)) != length(text)) {
        partita_fail("the report can't be written");
    }
}

static void write_number(int32_t file, const char *before, uint64_t number)
{
    char digits[21];
    append_number(digits, number);
    write_text(file, before);
    write_text(file, digits);
}

/* Lists only chips that received any bytes. */
static void write_report(void)
{
    const uint64_t cycles = partita_cycles();
    const int32_t report = opened(partita_options.report, 1);
    const char *separator = "\"";
    write_number(report, "{\"chip\": ", (uint64_t)partita_options.chip);
    write_number(report, ", \"cycles\": ", cycles);
    write_number(report, ", \"l2_l1\": ", partita_moved.l2_l1);
    write_number(report, ", \"l3_l2\": ", partita_moved.l3_l2);
    write_number(report, ", \"received\": ", partita_moved.received);
    write_text(report, ", \"sent\": {");
    for (int32_t chip = 0; chip < partita_options.chips; chip++) {
        if (partita_sent_to(chip) > 0) {
            write_number(report, separator, (uint64_t)chip);
            write_number(report, "\": ", partita_sent_to(chip));
            separator = ", \"";
        }
    }
    write_text(report, "}}\n");
    if (partita_file_close(report) != 0) {
        partita_fail("the report can't be written");
    }
}

int32_t partita_run(int32_t count, char *const *options)
{
    for (int32_t i = 0; i < count; i += 2) {
        read_option(options[i], i + 1 < count ? options[i + 1] : "");
    }
    partita_connect_chips();
    if (partita_options.l3 != NULL) {
        load_l3();
    }
    verify_images();
    input = opened(partita_options.input, 0);
    output = opened(partita_options.output, 1);
    partita_start_team();
    const int32_t code = partita_main();
    partita_stop_team();
    if (partita_file_close(output) != 0) {
        partita_fail("the output can't be written");
    }
    if (partita_options.report != NULL) {
        write_report();
    }
    partita_disconnect_chips();
    return code;
}
