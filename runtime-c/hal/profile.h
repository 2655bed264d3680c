/*
 * Cycles and bytes of each step of a program. Emitted code that is built with -DPARTITA_PROFILE calls these functions;
 * their own time counts for no step.
 */
#ifndef PARTITA_PROFILE_H
#define PARTITA_PROFILE_H

#include "hal.h"

/*
 * One step: its cycles, those in which the team computed, the bytes moved meanwhile as partita_traffic counts them,
 * and the program's cycle at which it began.
 */
struct partita_step_profile {
    uint64_t cycles;
    uint64_t team_cycles;
    struct partita_traffic moved;
    uint64_t start;
};

/* The first step begins. */
void partita_profile_begin(void);

/* A step ends, and the next one begins. */
void partita_profile_end(struct partita_step_profile *step);

#endif
