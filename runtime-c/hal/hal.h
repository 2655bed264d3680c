/*
 * What a port provides, and all that emitted code and collectives know of a chip.
 *
 * One control core runs the program; it starts kernels on a team of cores, and transfers that go on while it and the
 * team work. A transfer's and a message's struct is its caller's, static or on the stack, and must stay in place until
 * it has been waited for; each that was started must be waited for, once, before the program ends or not at all. Between
 * start and wait, what is written must not be touched, and what is read not be written to. Only the control core calls
 * these functions, except partita_barrier.
 *
 * A wrong argument or a broken link ends the program with a message, where the port can tell.
 */
#ifndef PARTITA_HAL_H
#define PARTITA_HAL_H

#include <stdint.h>

#include "../kernels/kernel.h"

/* Sizes that the program was compiled for, in bytes; a build may set others. */
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

/* For data that the control core uses between kernels: where its accesses are fastest. A build may say how. */
#ifndef PARTITA_NEAR
#define PARTITA_NEAR
#endif

/* Bytes that one transfer can move at most, and the alignment of L3 addresses and sizes. */
enum { PARTITA_TRANSFER_LIMIT = 131071, PARTITA_L3_ALIGNMENT = 4 };

/*
 * The memories that the program places its tiles and tensors in, aligned to 16 bytes. L3 is reached by transfers only.
 * Ports define them, but for L2 where PARTITA_L2_IMAGE is defined: then it's linked in with what it holds at first.
 */
extern uint8_t partita_l1[PARTITA_L1_BYTES];
extern uint8_t partita_l2[PARTITA_L2_BYTES];

/* The program: what the control core runs. Its result becomes the exit code. */
int32_t partita_main(void);

/* The number of this chip, and how many there are. */
int32_t partita_chip(void);
int32_t partita_chips(void);

/* Starts a kernel on all PARTITA_CORES cores, which must be idle; the arguments stay in place until the wait. */
void partita_team_start(partita_kernel *kernel, const void *arguments);
void partita_team_wait(void);

static inline void partita_team_run(partita_kernel *kernel, const void *arguments)
{
    partita_team_start(kernel, arguments);
    partita_team_wait();
}

/* Of partita_cycles those in which the team computed so far, from starts of kernels until they were waited for. */
uint64_t partita_team_cycles(void);

/* Within a kernel: waits for all cores of the team. */
void partita_barrier(void);

/* A copy between two memories. Its fields are the port's. */
struct partita_transfer {
    uint8_t *to;
    const uint8_t *from;
    uint32_t lines;
    uint32_t line_bytes;
    uint32_t to_stride;
    uint32_t from_stride;
    int32_t id;
};

/* L2 -> L1 (load) and L1 -> L2 (store): at most PARTITA_TRANSFER_LIMIT bytes; 0 are allowed. */
void partita_load_start(struct partita_transfer *transfer, void *l1, const void *l2, uint32_t bytes);
void partita_store_start(struct partita_transfer *transfer, void *l2, const void *l1, uint32_t bytes);

/* The same of lines that are contiguous in L1 and l2_stride bytes apart in L2; the limit holds for all together. */
void partita_load_lines_start(struct partita_transfer *transfer, void *l1, const void *l2, uint32_t lines,
                              uint32_t line_bytes, uint32_t l2_stride);
void partita_store_lines_start(struct partita_transfer *transfer, void *l2, const void *l1, uint32_t lines,
                               uint32_t line_bytes, uint32_t l2_stride);
void partita_transfer_wait(struct partita_transfer *transfer);

/* L3 -> L2 (fetch) and L2 -> L3 (spill): addresses, L3's from 0, and sizes are multiples of PARTITA_L3_ALIGNMENT. */
void partita_fetch_start(struct partita_transfer *transfer, void *l2, uint32_t l3, uint32_t bytes);
void partita_spill_start(struct partita_transfer *transfer, uint32_t l3, const void *l2, uint32_t bytes);
void partita_l3_wait(struct partita_transfer *transfer);

/* A message between two chips. Its fields are the port's. */
struct partita_message {
    uint8_t *data;
    uint32_t bytes;
    uint32_t done;
    int32_t chip;
    int32_t is_send;
    uint64_t header[2];
    struct partita_message *next;
};

/*
 * Messages of one chip to another arrive in the order in which they were started, and each receive takes the next one,
 * whose size it must know. A send is done when it's in the channel, which may have no room until it's received.
 * Data is in L2.
 */
void partita_send_start(struct partita_message *message, int32_t chip, const void *l2, uint32_t bytes);
void partita_receive_start(struct partita_message *message, int32_t chip, void *l2, uint32_t bytes);
void partita_message_wait(struct partita_message *message);

/*
 * What goes in and out: for each chip one stream of bytes each way, which a port takes from files. Tensors lie in them
 * one after the other, as the program and whoever runs it agreed.
 */

/* Reads the next bytes of the input. 0 if none are left, 1 when they're read; an end in between fails. */
int32_t partita_input_read(void *l2, uint32_t bytes);

/* Appends to the output. */
void partita_output_write(const void *l2, uint32_t bytes);

/* Cycles since the program began, of the cores' clock; on a host nanoseconds. */
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
