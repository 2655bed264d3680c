/* All cores compute with floats that stay in registers, from 0 on. */
#include "../../../hal/hal.h"

enum { ROUNDS = 2000 };

static void compute(const void *arguments, int32_t core, int32_t cores)
{
    float *sums = *(float *const *)arguments;
    float a = 0.0f;
    float b = 1.0f;
    float c = 2.0f;
    float d = 3.0f;
    (void)cores;
    for (int32_t i = 0; i < ROUNDS; i++) {
        a += b * 0.5f;
        b += c * 0.5f;
        c += d * 0.5f;
        d += a * 0.5f;
    }
    sums[core] = a + b + c + d;
}

int32_t partita_main(void)
{
    float *sums = (float *)(void *)partita_l1;
    partita_team_run(compute, &sums);
    return 0;
}
