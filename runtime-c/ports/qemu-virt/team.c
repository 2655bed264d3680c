/*
 * Cores as harts that sleep until they are woken: a wait reads a word of memory whenever another hart's software
 * interrupt ends its wfi, so waiting harts take no time from working ones.
 */
#include "virt.h"

/* A stack that grows beyond the mark doesn't reach the next one yet. */
enum { HARTS = PARTITA_CORES + 1, STACK_BYTES = 32 * 1024, MARK_AT = 4096, MARK = 0x7061727a };

/* 20 s of mtime; and the timer's bit of mie and mip. */
enum { PATIENCE = 20 * 10000000, TIMER = 0x80 };

/* The CLINT's msip, a word for each hart; mtime; and mtimecmp of hart 0, of two words each. */
static volatile uint32_t *const wakes = (volatile uint32_t *)0x02000000;
static volatile uint32_t *const machine_time = (volatile uint32_t *)0x0200bff8;
static volatile uint32_t *const alarm = (volatile uint32_t *)0x02004000;

const uint32_t partita_harts = HARTS;
const uint32_t partita_stack_bytes = STACK_BYTES;

/* start.S gives each hart its stack. */
_Alignas(16) uint8_t partita_stacks[HARTS][STACK_BYTES];

/* The current work; the round counts starts. */
static partita_kernel *job;
static const void *job_arguments;
static uint32_t job_round;
static uint32_t working;

/* The team's computing time, its last start, and whether it is yet to be awaited. */
static uint64_t computed;
static uint64_t began;
static int32_t is_running;

uint64_t partita_team_cycles(void)
{
    return computed;
}

static uint32_t present;
static uint32_t arrived;
static uint32_t barriers;

static void wake(int32_t first, int32_t last)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (int32_t hart = first; hart <= last; hart++) {
        wakes[hart] = 1;
    }
}

/* A hart that changes the word then wakes this one, which may also wake for other reasons. */
static uint32_t wait_while(const uint32_t *word, uint32_t value)
{
    uint32_t hart;
    __asm__ volatile("csrr %0, mhartid" : "=r"(hart));
    uint32_t now = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    while (now == value) {
        __asm__ volatile("wfi" : : : "memory");
        wakes[hart] = 0;
        __asm__ volatile("fence iorw, iorw" : : : "memory");
        now = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    }
    return now;
}

_Noreturn void partita_serve(int32_t core)
{
    __atomic_add_fetch(&present, 1, __ATOMIC_RELEASE);
    wake(0, 0);
    for (uint32_t round = 0;; round++) {
        wait_while(&job_round, round);
        job(job_arguments, core, PARTITA_CORES);
        if (__atomic_sub_fetch(&working, 1, __ATOMIC_ACQ_REL) == 0) {
            wake(0, 0);
        }
    }
}

static uint32_t *mark(int32_t hart)
{
    return (uint32_t *)(void *)(partita_stacks[hart] + MARK_AT);
}

/* At a time with an upper word of 0, which holds for the first seven minutes; or never. */
static void set_alarm(uint32_t time, uint32_t never)
{
    alarm[1] = UINT32_MAX;
    alarm[0] = time;
    alarm[1] = never;
}

/* With an alarm, since a machine with too few harts would wait forever. */
void partita_start_team(void)
{
    uint32_t pending;
    for (int32_t hart = 0; hart < HARTS; hart++) {
        *mark(hart) = MARK;
    }
    set_alarm(machine_time[0] + PATIENCE, 0);
    __asm__ volatile("csrs mie, %0" : : "r"(TIMER));
    wake(1, PARTITA_CORES);
    while (__atomic_load_n(&present, __ATOMIC_ACQUIRE) < PARTITA_CORES) {
        __asm__ volatile("wfi\ncsrr %0, mip" : "=r"(pending) : : "memory");
        wakes[0] = 0;
        __asm__ volatile("fence iorw, iorw" : : : "memory");
        if ((pending & TIMER) != 0) {
            partita_fail("too few harts: needs one per core and one for control, see QEMU's option -smp");
        }
    }
    set_alarm(UINT32_MAX, UINT32_MAX);
    __asm__ volatile("csrc mie, %0" : : "r"(TIMER));
}

void partita_team_start(partita_kernel *kernel, const void *arguments)
{
    partita_team_wait();
    is_running = 1;
    job = kernel;
    job_arguments = arguments;
    working = PARTITA_CORES;
    began = partita_cycles();
    __atomic_store_n(&job_round, job_round + 1, __ATOMIC_RELEASE);
    wake(1, PARTITA_CORES);
}

void partita_team_wait(void)
{
    uint32_t left = __atomic_load_n(&working, __ATOMIC_ACQUIRE);
    while (left > 0) {
        left = wait_while(&working, left);
    }
    if (is_running) {
        computed += partita_cycles() - began;
        is_running = 0;
    }
}

void partita_barrier(void)
{
    const uint32_t before = __atomic_load_n(&barriers, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == PARTITA_CORES) {
        arrived = 0;
        __atomic_store_n(&barriers, before + 1, __ATOMIC_RELEASE);
        wake(1, PARTITA_CORES);
    } else {
        wait_while(&barriers, before);
    }
}

/* Harts sleep until the machine stops. */
void partita_stop_team(void)
{
    for (int32_t hart = 0; hart < HARTS; hart++) {
        if (*mark(hart) != MARK) {
            partita_fail("a stack overflowed");
        }
    }
}
