#include "profile.h"

/* When the step or the run began: near, since what is stored after the cycles have been read counts for it. */
static PARTITA_NEAR uint64_t cycles;
static PARTITA_NEAR uint64_t team_cycles;
static PARTITA_NEAR struct partita_traffic moved;

PARTITA_INLINE void begin(void)
{
    moved = *partita_traffic();
    team_cycles = partita_team_cycles();
    cycles = partita_cycles();
}

void partita_profile_begin(void)
{
    begin();
}

static uint32_t at_most_32_bits(uint64_t bytes)
{
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

void partita_profile_end(struct partita_step_profile *step)
{
    partita_team_wait();
    const uint64_t now = partita_cycles();
    const struct partita_traffic *all = partita_traffic();
    step->cycles = now - cycles;
    step->team_cycles = partita_team_cycles() - team_cycles;
    step->start = cycles;
    step->l2_l1 = at_most_32_bits(all->l2_l1 - moved.l2_l1);
    step->l3_l2 = at_most_32_bits(all->l3_l2 - moved.l3_l2);
    step->sent = at_most_32_bits(all->sent - moved.sent);
    step->received = at_most_32_bits(all->received - moved.received);
    partita_profile_begin();
}

#ifdef PARTITA_PROFILE_RUNS

PARTITA_NEAR partita_instant partita_parts[PARTITA_PARTS];

/* Beside the main program's code (siracusa.ld), so that all other code stays where it is without a profile. */
#define BESIDE_MAIN __attribute__((section(".text")))

BESIDE_MAIN void partita_run_begin(void)
{
    for (int32_t part = 0; part < PARTITA_PARTS; part++) {
        partita_parts[part] = 0;
    }
    begin();
}

BESIDE_MAIN void partita_run_end(struct partita_run_profile *run, uint64_t now)
{
    const struct partita_traffic *all = partita_traffic();
    run->start = cycles;
    run->cycles = now - cycles;
    run->team_cycles = partita_team_cycles() - team_cycles;
    for (int32_t part = 0; part < PARTITA_PARTS; part++) {
        run->parts[part] = partita_parts[part];
    }
    run->moved = (struct partita_traffic){all->l2_l1 - moved.l2_l1, all->l3_l2 - moved.l3_l2, all->sent - moved.sent,
                                          all->received - moved.received};
}

#endif
