/* Cores as threads that wait for kernels. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stddef.h>

#include "../emulated/emulated.h"
#include "clock.h"

static pthread_t threads[PARTITA_CORES];
static int32_t numbers[PARTITA_CORES];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t started = PTHREAD_COND_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;

/* The current work; the round counts starts, and a null kernel ends the threads. */
static partita_kernel *job;
static const void *job_arguments;
static uint64_t job_round;
static int32_t working;

/* The team's computing time, its last start, and whether it is yet to be awaited. */
static uint64_t computed;
static uint64_t began;
static int32_t is_running;

uint64_t partita_team_cycles(void)
{
    return computed;
}

static void *run_core(void *number)
{
    const int32_t core = *(const int32_t *)number;
    for (uint64_t round = 1;; round++) {
        pthread_mutex_lock(&mutex);
        while (job_round < round) {
            pthread_cond_wait(&started, &mutex);
        }
        partita_kernel *kernel = job;
        const void *arguments = job_arguments;
        pthread_mutex_unlock(&mutex);
        if (kernel != NULL) {
            kernel(arguments, core, PARTITA_CORES);
        }
        pthread_mutex_lock(&mutex);
        if (--working == 0) {
            pthread_cond_signal(&done);
        }
        pthread_mutex_unlock(&mutex);
        if (kernel == NULL) {
            return NULL;
        }
    }
}

void partita_start_team(void)
{
    if (pthread_barrier_init(&barrier, NULL, PARTITA_CORES) != 0) {
        partita_fail("no barrier");
    }
    for (int32_t core = 0; core < PARTITA_CORES; core++) {
        numbers[core] = core;
        if (pthread_create(&threads[core], NULL, run_core, &numbers[core]) != 0) {
            partita_fail("a thread for a core can't be started");
        }
    }
    partita_clock_begin();
}

void partita_team_start(partita_kernel *kernel, const void *arguments)
{
    partita_team_wait();
    is_running = 1;
    pthread_mutex_lock(&mutex);
    job = kernel;
    job_arguments = arguments;
    job_round++;
    working = PARTITA_CORES;
    began = partita_cycles();
    pthread_cond_broadcast(&started);
    pthread_mutex_unlock(&mutex);
}

void partita_team_wait(void)
{
    pthread_mutex_lock(&mutex);
    while (working > 0) {
        pthread_cond_wait(&done, &mutex);
    }
    pthread_mutex_unlock(&mutex);
    if (is_running) {
        computed += partita_cycles() - began;
        is_running = 0;
    }
}

void partita_stop_team(void)
{
    partita_team_run(NULL, NULL);
    for (int32_t core = 0; core < PARTITA_CORES; core++) {
        pthread_join(threads[core], NULL);
    }
    pthread_barrier_destroy(&barrier);
}

void partita_barrier(void)
{
    pthread_barrier_wait(&barrier);
}
