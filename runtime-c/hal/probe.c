#include "probe.h"

#ifdef PARTITA_PROBES

void partita_probe_begin(enum partita_probe_kind kind, uint32_t number, int32_t chip, uint32_t bytes)
{
    /* Static: ports write from L2. */
    static uint32_t words[5];
    words[0] = PARTITA_PROBE_MARK;
    words[1] = kind;
    words[2] = number;
    words[3] = (uint32_t)chip;
    words[4] = bytes;
    partita_output_write(words, sizeof words);
}

static uint32_t lines(const struct partita_probe *probe)
{
    uint32_t lines = 1;
    for (int32_t i = 0; i < probe->count; i++) {
        lines *= probe->dimensions[i].size;
    }
    return lines;
}

static void write(const struct partita_probe *probe)
{
    const uint32_t all = lines(probe);
    for (uint32_t line = 0; line < all; line++) {
        uint32_t left = line;
        uint32_t offset = 0;
        for (int32_t i = probe->count - 1; i >= 0; i--) {
            offset += left % probe->dimensions[i].size * probe->dimensions[i].stride;
            left /= probe->dimensions[i].size;
        }
        partita_probe_data(probe->l2 + offset, probe->line_bytes);
    }
}

void partita_probe_step(int32_t step, const struct partita_probe *table)
{
    partita_team_wait();
    uint32_t bytes = 0;
    while (table->l2 != 0 && table->step < step) {
        table++;
    }
    for (const struct partita_probe *probe = table; probe->l2 != 0 && probe->step == step; probe++) {
        bytes += lines(probe) * probe->line_bytes;
    }
    partita_probe_begin(PARTITA_PROBE_STEP, (uint32_t)step, partita_chip(), bytes);
    for (; table->l2 != 0 && table->step == step; table++) {
        write(table);
    }
}

#endif
