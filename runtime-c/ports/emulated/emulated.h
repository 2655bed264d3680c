/*
 * Shared by ports that emulate a chip in the memory of another machine: options, input, output, report and transfers.
 * Such a port provides the functions at the end, and calls partita_run.
 */
#ifndef PARTITA_EMULATED_H
#define PARTITA_EMULATED_H

#include "../../hal/hal.h"

struct partita_options {
    int32_t chip;
    int32_t chips;
    int32_t early;      /* transfers happen when they start, not when they're waited for */
    const char *l3;     /* the file of L3's contents, or null */
    const char *input;  /* or null for the port's standard one */
    const char *output; /* likewise */
    const char *report; /* the file that is told what was moved, or null */
    int32_t any_images; /* L2 and L3 may begin with other bytes than were compiled */
};

extern struct partita_options partita_options;
extern struct partita_traffic partita_moved;
extern uint8_t partita_l3[PARTITA_L3_BYTES];

/* Runs the program with options, pairs of a name and a value; returns its exit code. */
int32_t partita_run(int32_t count, char *const *options);

/* The value of an option. */
uint64_t partita_option_number(const char *value);
int32_t partita_same_text(const char *first, const char *second);

/* CRC-32C (RFC 3720, appendix B.4), equal to Java's CRC32C. */
uint32_t partita_crc32c(const uint8_t *bytes, uint32_t count);

/* Provided by the port. */

/* Handles an option of the port's links and returns whether it is one; and their names for a message. */
int32_t partita_link_option(const char *name, const char *value);
extern const char partita_link_options[];

/* Sets the numbers of chips, if the options don't. */
void partita_connect_chips(void);
void partita_disconnect_chips(void);

/* Bytes sent to a chip so far. */
uint64_t partita_sent_to(int32_t chip);

void partita_start_team(void);
void partita_stop_team(void);

/*
 * Files by number, which is negative if a file can't be opened; a null name is the port's standard input or output.
 * Reading and writing return the bytes moved, fewer only at the end of a file, or a negative number on failure.
 */
int32_t partita_file_open(const char *name, int32_t for_writing);
int64_t partita_file_read(int32_t file, void *to, uint32_t bytes);
int64_t partita_file_write(int32_t file, const void *from, uint32_t bytes);
int32_t partita_file_close(int32_t file);

/* Prints a message for the user. */
void partita_print(const char *text);

_Noreturn void partita_exit(int32_t code);

#endif
