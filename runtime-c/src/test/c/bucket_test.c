/* Reads "bytes_per_second messages", then "time bytes" of each, and prints when they have left their bucket. */
#include <inttypes.h>
#include <stdio.h>

#include "../../../ports/posix/bucket.h"

int main(void)
{
    uint64_t rate;
    int messages;
    while (scanf("%" SCNu64 " %d", &rate, &messages) == 2) {
        struct partita_bucket bucket = {.bytes_per_second = rate};
        for (int i = 0; i < messages; i++) {
            uint64_t time;
            uint32_t bytes;
            if (scanf("%" SCNu64 " %" SCNu32, &time, &bytes) != 2) {
                return 1;
            }
            printf("%" PRIu64 " ", partita_bucket_take(&bucket, time, bytes));
        }
        printf("\n");
    }
    return 0;
}
