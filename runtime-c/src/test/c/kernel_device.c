/*
 * Calls kernels by name on behalf of a test, on the team of a device: reads the requests of kernel_server.c from the
 * input and writes the replies to the output. The kernels run on all cores at once.
 */
#include "../../../hal/hal.h"
#include "kernel_table.h"

enum { MAX_BUFFERS = 16, MAX_NAME_LENGTH = 100, MAX_ARGUMENTS = 1024 };

struct buffer {
    uint32_t size;
    uint32_t written;
    uint8_t *contents;
};

static struct buffer buffers[MAX_BUFFERS];
static _Alignas(8) uint8_t arguments[MAX_ARGUMENTS];

static void read_bytes(void *to, uint32_t bytes)
{
    if (!partita_input_read(to, bytes)) {
        partita_fail("the request ends early");
    }
}

static uint32_t read_number(uint32_t most, const char *message)
{
    uint32_t number;
    read_bytes(&number, sizeof number);
    if (number > most) {
        partita_fail(message);
    }
    return number;
}

static partita_kernel *find(const char *name)
{
    for (uint32_t i = 0; i < kernel_count; i++) {
        const char *candidate = kernel_table[i].name;
        uint32_t same = 0;
        while (name[same] != '\0' && name[same] == candidate[same]) {
            same++;
        }
        if (name[same] == candidate[same]) {
            return kernel_table[i].kernel;
        }
    }
    partita_fail("no such kernel");
}

/* One after the other in L2, at addresses as for any element. */
static void read_buffers(uint32_t count)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        buffers[i].size = read_number(PARTITA_L2_BYTES - used, "the buffers are larger than L2");
        buffers[i].written = read_number(1, "a buffer is written to or not");
        buffers[i].contents = partita_l2 + used;
        read_bytes(buffers[i].contents, buffers[i].size);
        used += (buffers[i].size + 15) / 16 * 16;
        if (used > PARTITA_L2_BYTES) {
            used = PARTITA_L2_BYTES;
        }
    }
}

static void serve(uint32_t name_length)
{
    char name[MAX_NAME_LENGTH] = {0};
    uint32_t places[MAX_BUFFERS][3];
    if (name_length >= MAX_NAME_LENGTH) {
        partita_fail("a long name");
    }
    read_bytes(name, name_length);
    /* How many cores in which order is for hosts. */
    read_bytes(places, 8);
    read_bytes(arguments, read_number(MAX_ARGUMENTS, "too large arguments"));
    const uint32_t pointers = read_number(MAX_BUFFERS, "too many pointers");
    read_bytes(places, pointers * 12);
    const uint32_t count = read_number(MAX_BUFFERS, "too many buffers");
    read_buffers(count);
    for (uint32_t i = 0; i < pointers; i++) {
        *(uint8_t **)(void *)(arguments + places[i][0]) = buffers[places[i][1]].contents + places[i][2];
    }
    partita_team_run(find(name), arguments);
    for (uint32_t i = 0; i < count; i++) {
        if (buffers[i].written && buffers[i].size > 0) {
            partita_output_write(buffers[i].contents, buffers[i].size);
        }
    }
}

int32_t partita_main(void)
{
    uint32_t length;
    while (partita_input_read(&length, sizeof length)) {
        serve(length);
    }
    return 0;
}
