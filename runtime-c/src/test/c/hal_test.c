/*
 * The contract of hal.h, on one chip or several: fails with what isn't so, or ends with 0. With the argument of --l3 a
 * file that holds 0, 1, 2 ... as bytes. The input begins with a u32, the cycles that test_links takes at least; what
 * follows, triples of bytes, is copied to the output.
 */
#include "../../../hal/hal.h"

/* Larger than any buffer on the way of a message. */
#ifndef LARGE_BYTES
#define LARGE_BYTES 1000000
#endif

#define EXPECT(HOLDS, WHAT)                \
    do {                                   \
        if (!(HOLDS)) {                    \
            partita_fail("not so: " WHAT); \
        }                                  \
    } while (0)

static void fill(uint8_t *to, int32_t value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        to[i] = (uint8_t)value;
    }
}

static int32_t same(const uint8_t *first, const uint8_t *second, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (first[i] != second[i]) {
            return 0;
        }
    }
    return 1;
}

struct counts {
    int32_t before[PARTITA_CORES];
    int32_t sums[PARTITA_CORES];
};

/* Each core sees after the barrier what all others wrote before it. */
static void count(const void *arguments, int32_t core, int32_t cores)
{
    struct counts *counts = *(struct counts *const *)arguments;
    counts->before[core] = core + 1;
    partita_barrier();
    counts->sums[core] = 0;
    for (int32_t i = 0; i < cores; i++) {
        counts->sums[core] += counts->before[i];
    }
    partita_barrier();
    counts->before[core] = 0;
}

static void test_team(void)
{
    struct counts *counts = (struct counts *)partita_l1;
    for (int32_t round = 0; round < 50; round++) {
        partita_team_run(count, &counts);
        for (int32_t core = 0; core < PARTITA_CORES; core++) {
            EXPECT(counts->sums[core] == PARTITA_CORES * (PARTITA_CORES + 1) / 2, "a barrier makes writes visible");
        }
    }
}

/* The cores need longer for it than a small transfer. */
static void count_late(const void *arguments, int32_t core, int32_t cores)
{
    struct counts *counts = *(struct counts *const *)arguments;
    for (volatile int32_t i = 0; i < 1000; i++) {
    }
    counts->sums[core] += cores;
}

/* The end of a transfer isn't taken for that of the team. */
static void test_team_and_transfers(void)
{
    struct counts *counts = (struct counts *)partita_l1;
    for (int32_t core = 0; core < PARTITA_CORES; core++) {
        counts->sums[core] = 0;
    }
    const uint64_t started = partita_cycles();
    const uint64_t computed = partita_team_cycles();
    for (int32_t round = 1; round <= 10; round++) {
        struct partita_transfer transfer;
        partita_load_start(&transfer, partita_l1 + 4096, partita_l2, 16);
        partita_team_start(count_late, &counts);
        partita_transfer_wait(&transfer);
        partita_team_wait();
        for (int32_t core = 0; core < PARTITA_CORES; core++) {
            EXPECT(counts->sums[core] == round * PARTITA_CORES, "a wait for the team lasts until all cores are done");
        }
    }
    EXPECT(partita_team_cycles() > computed, "the team's cycles are counted");
    EXPECT(partita_team_cycles() - computed <= partita_cycles() - started, "the team's cycles are some of all");
}

/* A kernel begins when the one before has ended, and a wait without one ends at once. */
static void test_kernels_in_a_row(void)
{
    struct counts *counts = (struct counts *)partita_l1;
    for (int32_t core = 0; core < PARTITA_CORES; core++) {
        counts->sums[core] = 0;
    }
    const uint64_t computed = partita_team_cycles();
    for (int32_t round = 0; round < 10; round++) {
        partita_team_start(count_late, &counts);
    }
    partita_team_wait();
    for (int32_t core = 0; core < PARTITA_CORES; core++) {
        EXPECT(counts->sums[core] == 10 * PARTITA_CORES, "each start awaits the kernel before");
    }
    const uint64_t all = partita_team_cycles();
    EXPECT(all > computed, "kernels that the next start awaits are counted");
    partita_team_wait();
    EXPECT(partita_team_cycles() == all, "a second wait counts nothing");
}

static void test_transfers(void)
{
    struct partita_transfer first;
    struct partita_transfer second;
    const uint64_t moved = partita_traffic()->l2_l1;
    for (int32_t i = 0; i < 4096; i++) {
        partita_l2[i] = (uint8_t)(i * 7);
    }
    partita_load_start(&first, partita_l1, partita_l2 + 3, 1000);
    partita_load_lines_start(&second, partita_l1 + 1000, partita_l2, 5, 12, 100);
    partita_transfer_wait(&second);
    partita_transfer_wait(&first);
    EXPECT(same(partita_l1, partita_l2 + 3, 1000), "a load copies");
    for (int32_t line = 0; line < 5; line++) {
        EXPECT(same(partita_l1 + 1000 + 12 * line, partita_l2 + 100 * line, 12), "a load packs lines");
    }
    fill(partita_l2 + 8000, 1, 300);
    partita_store_lines_start(&first, partita_l2 + 8000, partita_l1, 3, 10, 100);
    partita_transfer_wait(&first);
    EXPECT(same(partita_l2 + 8100, partita_l1 + 10, 10) && partita_l2[8110] == 1, "a store spreads lines");
    partita_store_start(&first, partita_l2 + 9000, partita_l1, 0);
    partita_transfer_wait(&first);
    EXPECT(partita_traffic()->l2_l1 == moved + 1000 + 60 + 30, "traffic counts bytes");
    const struct partita_planes planes = {4, 500, 3, 6, 50};
    partita_load_planes_start(&first, partita_l1 + 100, partita_l2, &planes);
    partita_transfer_wait(&first);
    for (int32_t line = 0; line < 12; line++) {
        EXPECT(same(partita_l1 + 100 + 6 * line, partita_l2 + 500 * (line / 3) + 50 * (line % 3), 6), "a load packs planes");
    }
    fill(partita_l2 + 10000, 1, 2000);
    partita_store_planes_start(&second, partita_l2 + 10000, partita_l1 + 100, &planes);
    partita_transfer_wait(&second);
    for (int32_t line = 0; line < 12; line++) {
        const uint8_t *stored = partita_l2 + 10000 + 500 * (line / 3) + 50 * (line % 3);
        EXPECT(same(stored, partita_l1 + 100 + 6 * line, 6) && stored[6] == 1, "a store spreads planes");
    }
    EXPECT(partita_traffic()->l2_l1 == moved + 1000 + 60 + 30 + 2 * 72, "traffic counts the bytes of planes");
}

static void test_l3(void)
{
    struct partita_transfer transfer;
    partita_fetch_start(&transfer, partita_l2, 8, 16);
    partita_l3_wait(&transfer);
    EXPECT(partita_l2[0] == 8 && partita_l2[15] == 23, "L3 holds the file");
    partita_spill_start(&transfer, 4000, partita_l2 + 4, 8);
    partita_l3_wait(&transfer);
    partita_fetch_start(&transfer, partita_l2 + 64, 4000, 8);
    partita_l3_wait(&transfer);
    EXPECT(partita_l2[64] == 12 && partita_l2[71] == 19, "what is spilled can be fetched");
}

/* More than hardware has room for, waited for in another order. */
static void test_many(void)
{
    enum { LOADS = 40, FETCHES = 20, LOADED = 16, FETCHED = 8 };
    static struct partita_transfer loads[LOADS];
    static struct partita_transfer fetches[FETCHES];
    for (uint32_t i = 0; i < FETCHES; i++) {
        partita_fetch_start(&fetches[i], partita_l2 + FETCHED * i, FETCHED * (FETCHES - 1 - i), FETCHED);
    }
    for (uint32_t i = 0; i < LOADS * LOADED; i++) {
        partita_l2[1024 + i] = (uint8_t)(i * 11);
    }
    for (uint32_t i = 0; i < LOADS; i++) {
        partita_load_start(&loads[i], partita_l1 + LOADED * i, partita_l2 + 1024 + LOADED * i, LOADED);
    }
    for (uint32_t i = LOADS; i > 0; i--) {
        partita_transfer_wait(&loads[i - 1]);
    }
    for (uint32_t i = FETCHES; i > 0; i--) {
        partita_l3_wait(&fetches[i - 1]);
    }
    EXPECT(same(partita_l1, partita_l2 + 1024, LOADS * LOADED), "many loads can be under way");
    for (uint32_t i = 0; i < FETCHES; i++) {
        EXPECT(partita_l2[FETCHED * i + 1] == FETCHED * (FETCHES - 1 - i) + 1, "many fetches can be under way");
    }
}

/* Each sends two messages to each other at once, one of them large. */
static void test_links(uint32_t least_cycles)
{
    enum { SMALL = 12, LARGE = LARGE_BYTES, MAX = 4 };
    static uint8_t out[MAX][SMALL];
    static uint8_t in[MAX][SMALL + LARGE];
    static uint8_t large[LARGE];
    static struct partita_message messages[MAX][4];
    const int32_t own = partita_chip();
    const uint64_t started = partita_cycles();
    fill(large, 'a' + own, LARGE);
    for (int32_t chip = 0; chip < partita_chips(); chip++) {
        if (chip != own) {
            fill(out[chip], own * 16 + chip, SMALL);
            partita_send_start(&messages[chip][0], chip, out[chip], SMALL);
            partita_send_start(&messages[chip][1], chip, large, LARGE);
        }
    }
    for (int32_t chip = 0; chip < partita_chips(); chip++) {
        if (chip != own) {
            partita_receive_start(&messages[chip][2], chip, in[chip], SMALL);
            partita_receive_start(&messages[chip][3], chip, in[chip] + SMALL, LARGE);
        }
    }
    for (int32_t chip = 0; chip < partita_chips(); chip++) {
        for (int32_t i = 3; i >= 0 && chip != own; i--) {
            partita_message_wait(&messages[chip][i]);
        }
        if (chip != own) {
            EXPECT(in[chip][0] == chip * 16 + own && in[chip][SMALL - 1] == in[chip][0], "messages arrive in order");
            EXPECT(in[chip][SMALL] == 'a' + chip && in[chip][SMALL + LARGE - 1] == 'a' + chip, "all of it arrives");
        }
    }
    if (partita_chips() > 1) {
        /* A time can only be proved too short. */
        EXPECT(partita_cycles() - started >= least_cycles, "a link takes its time");
        EXPECT(partita_traffic()->sent == (uint64_t)(partita_chips() - 1) * (SMALL + LARGE), "links count bytes");
    }
}

static void copy_input(void)
{
    while (partita_input_read(partita_l2 + 1, 3)) {
        partita_output_write(partita_l2 + 1, 3);
    }
}

int32_t partita_main(void)
{
    uint32_t least_cycles;
    EXPECT(partita_input_read(&least_cycles, sizeof least_cycles), "the input has a number");
    test_team();
    test_team_and_transfers();
    test_kernels_in_a_row();
    test_transfers();
    test_l3();
    test_many();
    test_links(least_cycles);
    copy_input();
    return 0;
}
