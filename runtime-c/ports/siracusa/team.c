/* The team's cores sleep until the event unit hands them a kernel; the control core joins them at a barrier. */
#include "siracusa.h"

enum {
    MASK = 0,
    DISPATCH = 0x80,
    DISPATCH_TEAM = 0x84,
    JOIN = 0x200,
    TEAM = 0x220,
    BARRIER_TARGET = 0xC,
    BARRIER_WAIT = 0x1C,
    EVENTS = 1 << 8 | 1 << 16 | 1 << 17 | 1 << 18, /* of the DMA, barriers, mutexes and dispatches */
    ALL_CORES = (1 << PARTITA_CORES) - 1
};

_Noreturn void partita_run_core(int32_t core);

void partita_start_team(void)
{
    write_register(EVENT_UNIT + MASK, EVENTS);
    write_register(EVENT_UNIT + DISPATCH_TEAM, ALL_CORES);
    write_register(EVENT_UNIT + JOIN, ALL_CORES | 1 << CONTROL_CORE);
    write_register(EVENT_UNIT + JOIN + BARRIER_TARGET, ALL_CORES | 1 << CONTROL_CORE);
    write_register(EVENT_UNIT + TEAM, ALL_CORES);
    write_register(EVENT_UNIT + TEAM + BARRIER_TARGET, ALL_CORES);
}

_Noreturn void partita_run_core(int32_t core)
{
    write_register(EVENT_UNIT + MASK, EVENTS);
    for (;;) {
        partita_kernel *kernel = (partita_kernel *)(uintptr_t)wait_for_event(EVENT_UNIT + DISPATCH);
        const void *arguments = (const void *)(uintptr_t)wait_for_event(EVENT_UNIT + DISPATCH);
        kernel(arguments, core, PARTITA_CORES);
        wait_for_event(EVENT_UNIT + JOIN + BARRIER_WAIT);
    }
}

void partita_team_start(partita_kernel *kernel, const void *arguments)
{
    __asm__ volatile("" : : : "memory");
    write_register(EVENT_UNIT + DISPATCH, (uint32_t)(uintptr_t)kernel);
    write_register(EVENT_UNIT + DISPATCH, (uint32_t)(uintptr_t)arguments);
    partita_watch_cycles();
}

void partita_team_wait(void)
{
    wait_for_event(EVENT_UNIT + JOIN + BARRIER_WAIT);
}

void partita_barrier(void)
{
    wait_for_event(EVENT_UNIT + TEAM + BARRIER_WAIT);
}
