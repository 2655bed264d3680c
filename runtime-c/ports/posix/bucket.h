/* The bandwidth that messages share. */
#ifndef PARTITA_BUCKET_H
#define PARTITA_BUCKET_H

#include <stdint.h>

/* A token bucket without a burst: a message takes its bytes when those of all before it have been taken. */
struct partita_bucket {
    uint64_t bytes_per_second; /* 0 for as many as there are */
    uint64_t free;             /* when all messages so far will have left, in nanoseconds */
};

/* Takes the bytes of a message that is sent at the given time, and returns when the last of them has left. */
static inline uint64_t partita_bucket_take(struct partita_bucket *bucket, uint64_t time, uint32_t bytes)
{
    const uint64_t start = bucket->free > time ? bucket->free : time;
    bucket->free = start + (bucket->bytes_per_second == 0 ? 0 : bytes * 1000000000ull / bucket->bytes_per_second);
    return bucket->free;
}

#endif
