/* The cycle counter, and the team's cycles. */
#ifndef PARTITA_SIRACUSA_CLOCK_H
#define PARTITA_SIRACUSA_CLOCK_H

#include <stdint.h>

/* The lower half of a core's cycles. */
static inline uint32_t partita_counter(void)
{
    uint32_t cycles;
    __asm__ volatile("csrr %0, 0xC00" : "=r"(cycles) : : "memory");
    return cycles;
}

extern struct partita_team {
    uint64_t computed;  /* cycles */
    uint32_t began;     /* at the last start */
    int32_t is_running; /* whether the last kernel is yet to be awaited */
} partita_team;

#endif
