/* What the files of this port share. */
#ifndef PARTITA_POSIX_H
#define PARTITA_POSIX_H

#include <stdio.h>

#include "../../hal/hal.h"

struct partita_options {
    int32_t chip;
    int32_t chips;
    int32_t early;              /* transfers happen when they start, not when they're waited for */
    uint64_t bytes_per_second;  /* of a link; 0 for as fast as it gets */
    uint64_t latency;           /* of a link, in nanoseconds */
    const char *links;          /* the folder of the chips' sockets */
    const char *l3;             /* the file of L3's contents, or null */
    const char *input;          /* and the output: files, or null for the standard ones */
    const char *output;
    const char *report;         /* the file that is told what was moved, or null */
};

extern struct partita_options partita_options;
extern struct partita_traffic partita_moved;

void partita_start_team(void);
void partita_stop_team(void);
void partita_load_l3(const char *file);
void partita_connect_chips(void);

/* {"1": 4096, "3": 512}: bytes sent to each chip that got any. */
void partita_report_links(FILE *report);

#endif
