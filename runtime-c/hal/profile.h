/*
 * Cycles and bytes of each step of a program. Emitted code that is built with -DPARTITA_PROFILE calls these functions;
 * their own time counts for no step.
 */
#ifndef PARTITA_PROFILE_H
#define PARTITA_PROFILE_H

#include "hal.h"

/*
 * One step: its cycles, those in which the team computed, the program's cycle at which it began, and the bytes moved
 * meanwhile as partita_traffic counts them, 2^32 - 1 if there are more: a chip has little room for the records.
 */
struct partita_step_profile {
    uint64_t cycles;
    uint64_t team_cycles;
    uint64_t start;
    uint32_t l2_l1;
    uint32_t l3_l2;
    uint32_t sent;
    uint32_t received;
};

/* The first step begins. */
void partita_profile_begin(void);

/* A step ends with the kernel that the team runs, and the next one begins. */
void partita_profile_end(struct partita_step_profile *step);

#endif
