#include "profile.h"

static struct partita_step_profile last;

void partita_profile_begin(void)
{
    last.moved = *partita_traffic();
    last.team_cycles = partita_team_cycles();
    last.cycles = partita_cycles();
}

void partita_profile_end(struct partita_step_profile *step)
{
    const uint64_t now = partita_cycles();
    const struct partita_traffic *moved = partita_traffic();
    step->start = last.cycles;
    step->cycles = now - last.cycles;
    step->team_cycles = partita_team_cycles() - last.team_cycles;
    step->moved.l2_l1 = moved->l2_l1 - last.moved.l2_l1;
    step->moved.l3_l2 = moved->l3_l2 - last.moved.l3_l2;
    step->moved.sent = moved->sent - last.moved.sent;
    step->moved.received = moved->received - last.moved.received;
    partita_profile_begin();
}
