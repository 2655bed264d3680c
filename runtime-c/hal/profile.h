/*
 * What a program took. Built with -DPARTITA_PROFILE, emitted code records each step: the time of recording counts for
 * no step, but transfers and messages go on meanwhile, and the instruction cache loses what it had. Built with
 * -DPARTITA_PROFILE_RUNS, it records each run, which takes as long as without a profile but for a few instructions at both
 * ends of a wait for L3 or of an exchange, and for the other place of code behind them in L1: up to 3 % in all.
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

/* Parts of a run, less the cycles in which the team computed. */
enum partita_part {
    PARTITA_L3_WAITS,  /* for transfers and rows of tables that were started ahead */
    PARTITA_EXCHANGES, /* begins of exchanges included */
    PARTITA_PARTS
};

/*
 * One run: the program's cycle at which it began, its cycles, those in which the team computed and those of its parts, and
 * the bytes moved meanwhile as partita_traffic counts them. What the control core awaits while a kernel runs, or before it
 * has awaited that, counts as computing.
 */
struct partita_run_profile {
    uint64_t start;
    uint64_t cycles;
    uint64_t team_cycles;
    uint64_t parts[PARTITA_PARTS];
    struct partita_traffic moved;
};

#ifdef PARTITA_PROFILE_RUNS

/* A run begins; ends at a cycle of the program. */
void partita_run_begin(void);
void partita_run_end(struct partita_run_profile *run, uint64_t now);

/*
 * Counts cycles in which the team doesn't compute, for differences. Inlined although the code between kernels is compiled for
 * size: calls would take as long as all else.
 */
#ifdef PARTITA_XPULP
#include "../ports/siracusa/clock.h"

typedef uint32_t partita_instant;

PARTITA_INLINE partita_instant partita_part_begin(void)
{
    const uint32_t now = partita_team.is_running ? partita_team.began : partita_counter();
    return now - (uint32_t)partita_team.computed;
}
#else
typedef uint64_t partita_instant;

PARTITA_INLINE partita_instant partita_part_begin(void)
{
    return partita_cycles() - partita_team_cycles();
}
#endif

/* The cycles of each part since the run began. */
extern partita_instant partita_parts[PARTITA_PARTS];

PARTITA_INLINE void partita_part_end(enum partita_part part, partita_instant began)
{
    partita_parts[part] += partita_part_begin() - began;
}

#else

typedef uint32_t partita_instant;

static inline partita_instant partita_part_begin(void)
{
    return 0;
}

static inline void partita_part_end(enum partita_part part, partita_instant began)
{
    (void)part;
    (void)began;
}

#endif

#endif
