/*
 * The clock of a chip on a host, in nanoseconds, which partita_cycles returns.
 *
 * Usually it is the host's, since the program began. If chips take turns, only one of them computes at a time, and
 * the clock of each counts the processor time of its own threads since the start of partita_main, without input and
 * output; a port sets it forward to the time at which a message arrives. So the clocks show the time that as many hosts
 * would take, however many share this one.
 */
#ifndef PARTITA_CLOCK_H
#define PARTITA_CLOCK_H

#include <stdint.h>

/* Lets the chips that are given the same file take turns. */
void partita_clock_take_turns(const char *file);
int32_t partita_clock_takes_turns(void);

/* Called when the program begins, and when partita_main is about to. */
void partita_clock_start(void);
void partita_clock_begin(void);

/*
 * With turns, after partita_clock_begin: processor time doesn't count from stop to resume. Others may compute after a
 * yield, until resume.
 */
void partita_clock_stop(void);
void partita_clock_yield(void);
void partita_clock_resume(void);

/* Sets a stopped clock to a time, unless it is later already. */
void partita_clock_forward(uint64_t time);

#endif
