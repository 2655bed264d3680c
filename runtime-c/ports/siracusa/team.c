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
    EVENTS = 1 << 16 | 1 << 18, /* of barriers and dispatches: any other would end a wait for one of these */
    ALL_CORES = (1 << PARTITA_CORES) - 1
};

/* From the linker script: the lower ends of the cores' stacks, in order; the control core's is last. */
extern uint8_t __core_stacks[];
extern uint8_t __core_stack_bytes[];

_Noreturn void partita_run_core(int32_t core);

enum { GUARD = 0x57ACCED5 };

IN_L1 struct partita_team partita_team;

uint64_t partita_team_cycles(void)
{
    return partita_team.computed;
}

static volatile uint32_t *guard(int32_t core)
{
    return (volatile uint32_t *)(void *)(__core_stacks + core * (int32_t)(uintptr_t)__core_stack_bytes);
}

void partita_verify_stacks(void)
{
    for (int32_t core = 0; core <= CONTROL_CORE; core++) {
        if (*guard(core) != GUARD) {
            partita_fail("a stack overflowed");
        }
    }
}

void partita_start_team(void)
{
    for (int32_t core = 0; core <= CONTROL_CORE; core++) {
        *guard(core) = GUARD;
    }
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

/* Kernels take less than 2^32 cycles. */
PARTITA_INLINE void join(void)
{
    wait_for_event(EVENT_UNIT + JOIN + BARRIER_WAIT);
    partita_team.computed += partita_counter() - partita_team.began;
}

void partita_team_start(partita_kernel *kernel, const void *arguments)
{
    if (partita_team.is_running) {
        join();
    }
    partita_team.is_running = 1;
    __asm__ volatile("" : : : "memory");
    write_register(EVENT_UNIT + DISPATCH, (uint32_t)(uintptr_t)kernel);
    write_register(EVENT_UNIT + DISPATCH, (uint32_t)(uintptr_t)arguments);
    partita_team.began = partita_watch_cycles();
}

void partita_team_wait(void)
{
    if (partita_team.is_running) {
        partita_team.is_running = 0;
        join();
    }
}

void partita_barrier(void)
{
    wait_for_event(EVENT_UNIT + TEAM + BARRIER_WAIT);
}
