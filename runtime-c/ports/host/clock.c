#define _DEFAULT_SOURCE
#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

#include "../emulated/emulated.h"

enum { NO_FILE = -1 };

static int turns = NO_FILE; /* whoever has locked this file computes */
static int32_t has_begun;
static int32_t has_turn;
static int32_t is_stopped = 1;
static uint64_t since;   /* the processor time at which the clock last started, or began */
static uint64_t elapsed; /* on the clock until then */

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t partita_cycles(void)
{
    if (!partita_clock_takes_turns()) {
        return read_clock(CLOCK_MONOTONIC) - since;
    }
    return elapsed + (is_stopped ? 0 : read_clock(CLOCK_PROCESS_CPUTIME_ID) - since);
}

void partita_clock_take_turns(const char *file)
{
    turns = open(file, O_RDWR | O_CREAT, 0666);
    if (turns < 0) {
        partita_fail("the file of turns can't be opened");
    }
}

int32_t partita_clock_takes_turns(void)
{
    return turns != NO_FILE;
}

void partita_clock_start(void)
{
    since = read_clock(CLOCK_MONOTONIC);
}

void partita_clock_begin(void)
{
    has_begun = 1;
    partita_clock_resume();
}

void partita_clock_stop(void)
{
    if (partita_clock_takes_turns() && !is_stopped) {
        elapsed = partita_cycles();
        is_stopped = 1;
    }
}

void partita_clock_yield(void)
{
    partita_clock_stop();
    if (has_turn) {
        flock(turns, LOCK_UN);
        has_turn = 0;
    }
}

void partita_clock_resume(void)
{
    if (!partita_clock_takes_turns() || !has_begun) {
        return;
    }
    while (!has_turn) {
        if (flock(turns, LOCK_EX) == 0) {
            has_turn = 1;
        } else if (errno != EINTR) {
            partita_fail("the file of turns can't be locked");
        }
    }
    since = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    is_stopped = 0;
}

void partita_clock_forward(uint64_t time)
{
    if (is_stopped && elapsed < time) {
        elapsed = time;
    }
}
