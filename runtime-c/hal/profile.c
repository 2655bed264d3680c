#include "profile.h"

/* When the step began: near, since what is stored after the cycles have been read counts for the step. */
static PARTITA_NEAR uint64_t cycles;
static PARTITA_NEAR uint64_t team_cycles;
static PARTITA_NEAR struct partita_traffic moved;

void partita_profile_begin(void)
{
    moved = *partita_traffic();
    team_cycles = partita_team_cycles();
    cycles = partita_cycles();
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
