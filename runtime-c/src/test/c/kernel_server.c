/*
 * Calls kernels by name on behalf of a test. Each request on the standard input has numbers as little-endian u32:
 * the bytes of the kernel's name, and these; cores; 1 to call the last core first; the bytes of the argument
 * struct, and these; a count of pointers in it, and for each its place, the number of a buffer and a byte offset in
 * it; a count of buffers, and for each its bytes, whether it's written to, and its contents. The reply on the standard
 * output is the contents of the buffers that are written to.
 *
 * A buffer is allocated with exactly its bytes, so that the address sanitizer sees each access outside of it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../kernels/kernel.h"

enum { MAX_BUFFERS = 16 };

struct buffer {
    uint32_t size;
    uint32_t written;
    char *contents;
    char *before;
};

static void fail(const char *message, const char *name)
{
    fprintf(stderr, "kernel server: %s: %s\n", name, message);
    exit(3);
}

static void read_bytes(void *to, size_t size)
{
    if (size > 0 && fread(to, 1, size, stdin) != size) {
        fail("the request ends early", "input");
    }
}

static uint32_t read_number(void)
{
    uint32_t number;
    read_bytes(&number, sizeof number);
    return number;
}

static void *allocated(size_t size)
{
    void *memory = malloc(size);
    if (memory == NULL && size > 0) {
        fail("out of memory", "malloc");
    }
    return memory;
}

/* Whether there was a request. */
static int serve(void)
{
    char name[100] = {0};
    uint32_t length;
    struct buffer buffers[MAX_BUFFERS];
    uint32_t places[MAX_BUFFERS][3];
    if (fread(&length, 1, sizeof length, stdin) != sizeof length) {
        return 0;
    }
    if (length >= sizeof name) {
        fail("a long name", "input");
    }
    read_bytes(name, length);
    const int32_t cores = (int32_t)read_number();
    const int32_t backwards = (int32_t)read_number();
    const uint32_t size = read_number();
    char *arguments = allocated(size);
    read_bytes(arguments, size);
    const uint32_t pointers = read_number();
    if (pointers > MAX_BUFFERS) {
        fail("too many pointers", name);
    }
    for (uint32_t i = 0; i < pointers; i++) {
        read_bytes(places[i], sizeof places[i]);
    }
    const uint32_t count = read_number();
    if (count > MAX_BUFFERS) {
        fail("too many buffers", name);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct buffer *buffer = &buffers[i];
        buffer->size = read_number();
        buffer->written = read_number();
        buffer->contents = allocated(buffer->size);
        buffer->before = allocated(buffer->size);
        read_bytes(buffer->contents, buffer->size);
        memcpy(buffer->before, buffer->contents, buffer->size);
    }
    for (uint32_t i = 0; i < pointers; i++) {
        char *target = buffers[places[i][1]].contents + places[i][2];
        memcpy(arguments + places[i][0], &target, sizeof target);
    }
    void *symbol = dlsym(RTLD_DEFAULT, name);
    if (symbol == NULL) {
        fail("no such kernel", name);
    }
    partita_kernel *kernel;
    memcpy(&kernel, &symbol, sizeof kernel);
    for (int32_t i = 0; i < cores; i++) {
        kernel(arguments, backwards ? cores - 1 - i : i, cores);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (buffers[i].written) {
            fwrite(buffers[i].contents, 1, buffers[i].size, stdout);
        } else if (buffers[i].size > 0 && memcmp(buffers[i].contents, buffers[i].before, buffers[i].size) != 0) {
            fail("an operand was written to", name);
        }
        free(buffers[i].contents);
        free(buffers[i].before);
    }
    free(arguments);
    fflush(stdout);
    return 1;
}

int main(void)
{
    while (serve()) {
    }
    return 0;
}
