/*
 * The interface that a port provides, and all that emitted code and collectives know about a chip.
 *
 * One control core runs the program; it starts kernels on a team of cores, and transfers that run concurrently with
 * both. The caller owns the struct of a transfer or a message, static or on the stack, and must keep it in place
 * until it has waited for it. Each started transfer or message must be awaited exactly once, or not at all if the
 * program ends. Between start and wait, the destination must not be accessed, and the source not be written. Only the
 * control core calls these functions, except partita_barrier.
 *
 * A wrong argument or a broken link ends the program with a message, where the port can tell.
 */
#ifndef PARTITA_HAL_H
#define PARTITA_HAL_H

#include <stdint.h>

#include "../kernels/kernel.h"

/* Memory sizes of the program, in bytes; a build may set others. */
#ifndef PARTITA_CORES
#define PARTITA_CORES 8
#endif
#ifndef PARTITA_L1_BYTES
#define PARTITA_L1_BYTES (256 * 1024)
#endif
#ifndef PARTITA_L2_BYTES
#define PARTITA_L2_BYTES (2 * 1024 * 1024)
#endif
#ifndef PARTITA_L3_BYTES
#define PARTITA_L3_BYTES (64 * 1024 * 1024)
#endif

/* Attribute for data that the control core uses between kernels, for the fastest memory. A build may define it. */
#ifndef PARTITA_NEAR
#define PARTITA_NEAR
#endif

/* The most bytes that one transfer can move, and the alignment of L3 addresses and sizes. */
enum { PARTITA_TRANSFER_LIMIT = 131071, PARTITA_L3_ALIGNMENT = 4 };

/*
 * The memories of tiles and tensors. L3 is reached only by transfers. Declared with their alignment, since compilers
 * would read integers at known places byte by byte.
 * Ports define them, except L2 if PARTITA_L2_IMAGE is defined: then it's linked in with its initial contents.
 */
extern _Alignas(16) uint8_t partita_l1[PARTITA_L1_BYTES];
extern _Alignas(16) uint8_t partita_l2[PARTITA_L2_BYTES];

/* The program, which the control core runs. Its result becomes the exit code. */
int32_t partita_main(void);

/* The number of this chip, and the number of chips. */
int32_t partita_chip(void);
int32_t partita_chips(void);

/*
 * Starts a kernel on all PARTITA_CORES cores, when they have ended the one before; the arguments stay in place until
 * the wait, or the next start. A wait ends at once if no kernel has been started since the last one.
 */
void partita_team_start(partita_kernel *kernel, const void *arguments);
void partita_team_wait(void);

static inline void partita_team_run(partita_kernel *kernel, const void *arguments)
{
    partita_team_start(kernel, arguments);
    partita_team_wait();
}

/* The cycles so far in which the team computed, from the start of each kernel until it has been awaited. */
uint64_t partita_team_cycles(void);

/* Within a kernel, waits for all cores of the team. */
void partita_barrier(void);

/* A copy between two memories. Its fields belong to the port. */
struct partita_transfer {
#ifdef PARTITA_XPULP
    int32_t id;
    uint32_t state;
#else
    uint8_t *to;
    const uint8_t *from;
    uint32_t lines;
    uint32_t line_bytes;
    uint32_t to_stride;
    uint32_t from_stride;
    uint32_t planes;
    uint32_t to_plane;
    uint32_t from_plane;
    int32_t id;
#endif
};

/* L2 -> L1 (load) and L1 -> L2 (store): at most PARTITA_TRANSFER_LIMIT bytes; 0 are allowed. */
void partita_load_start(struct partita_transfer *transfer, void *l1, const void *l2, uint32_t bytes);
void partita_store_start(struct partita_transfer *transfer, void *l2, const void *l1, uint32_t bytes);

/* The same for lines that are contiguous in L1 and l2_stride bytes apart in L2; the limit applies to their total. */
void partita_load_lines_start(struct partita_transfer *transfer, void *l1, const void *l2, uint32_t lines,
                              uint32_t line_bytes, uint32_t l2_stride);
void partita_store_lines_start(struct partita_transfer *transfer, void *l2, const void *l1, uint32_t lines,
                               uint32_t line_bytes, uint32_t l2_stride);

/* The same for planes of such lines, which are contiguous in L1, too; the limit applies to the total of all planes. */
struct partita_planes {
    uint32_t planes;
    uint32_t plane_stride; /* in L2 */
    uint32_t lines;
    uint32_t line_bytes;
    uint32_t line_stride; /* in L2 */
};

void partita_load_planes_start(struct partita_transfer *transfer, void *l1, const void *l2,
                               const struct partita_planes *planes);
void partita_store_planes_start(struct partita_transfer *transfer, void *l2, const void *l1,
                                const struct partita_planes *planes);
void partita_transfer_wait(struct partita_transfer *transfer);

/* Whether a started transfer has ended; it must be awaited nevertheless. */
int32_t partita_transfer_ended(const struct partita_transfer *transfer);

/* L3 -> L2 (fetch) and L2 -> L3 (spill): addresses, L3's from 0, and sizes are multiples of PARTITA_L3_ALIGNMENT. */
void partita_fetch_start(struct partita_transfer *transfer, void *l2, uint32_t l3, uint32_t bytes);
void partita_spill_start(struct partita_transfer *transfer, uint32_t l3, const void *l2, uint32_t bytes);
void partita_l3_wait(struct partita_transfer *transfer);

#ifdef PARTITA_XPULP
#include "../ports/siracusa/links.h"
#else
/* A message between two chips. Its fields belong to the port. */
struct partita_message {
    uint8_t *data;
    uint32_t bytes;
    uint32_t done;
    int32_t chip;
    int32_t is_send;
    uint64_t header[2];
    struct partita_message *next;
};
#endif

/*
 * Messages from one chip to another arrive in the order in which they were started. Each receive takes the next one
 * and must know its size. A send completes when the message is in the channel, which may have no room until it's
 * received. Data is in L2.
 */
void partita_send_start(struct partita_message *message, int32_t chip, const void *l2, uint32_t bytes);
void partita_receive_start(struct partita_message *message, int32_t chip, void *l2, uint32_t bytes);
void partita_message_wait(struct partita_message *message);

/* Whether a wait for the message would end at once. One that has ended needn't be awaited. */
int32_t partita_message_ended(struct partita_message *message);

/*
 * Input and output: one byte stream each per chip, which a port maps to files. The program and its caller agree on
 * the sequence of tensors in them.
 */

/* Reads the next bytes of the input. Returns 1 if they were read, 0 if none are left; fails if only some are left. */
int32_t partita_input_read(void *l2, uint32_t bytes);

/* Appends to the output. */
void partita_output_write(const void *l2, uint32_t bytes);

/* Cycles of the cores' clock since the program began; nanoseconds on a host. */
uint64_t partita_cycles(void);

/* Bytes moved so far. */
struct partita_traffic {
    uint64_t l2_l1; /* both directions */
    uint64_t l3_l2; /* both directions */
    uint64_t sent;
    uint64_t received;
};

const struct partita_traffic *partita_traffic(void);

/* Ends the program with a message. */
_Noreturn void partita_fail(const char *message);

#endif
