/*
 * What each step of a program takes. Emitted code that is built with -DPARTITA_PROFILE calls these; what they take
 * themselves belongs to no step.
 */
#ifndef PARTITA_PROFILE_H
#define PARTITA_PROFILE_H

#include "hal.h"

/*
 * Of one step: cycles, those of them in which the team computed, bytes moved meanwhile as partita_traffic counts them,
 * and at which cycle of the program it began.
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
