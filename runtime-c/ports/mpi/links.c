/*
 * Chips are the ranks of an MPI program; links are its messages, which make progress while the program is in MPI.
 * Only the control thread calls MPI. MPI keeps messages from one rank to another in order, since receives name their
 * sender.
 *
 *   mpirun -n CHIPS PROGRAM [options of all ports]
 */
#include <mpi.h>
#include <stddef.h>
#include <string.h>

#include "../emulated/emulated.h"

enum { MAX_CHIPS = 4096 };

/* A started message keeps its request in place of a header. */
_Static_assert(sizeof(MPI_Request) <= sizeof(((struct partita_message *)0)->header), "a request fits a message");

static uint64_t sent[MAX_CHIPS];

const char partita_link_options[] = "";

int32_t partita_link_option(const char *name, const char *value)
{
    (void)name;
    (void)value;
    return 0;
}

static _Noreturn void fail_size(void)
{
    partita_fail("a message of another size than the receiver expects");
}

static void verify(int result)
{
    int class;
    if (result == MPI_SUCCESS) {
        return;
    }
    if (MPI_Error_class(result, &class) == MPI_SUCCESS && class == MPI_ERR_TRUNCATE) {
        fail_size();
    }
    partita_fail("a link failed");
}

void partita_connect_chips(void)
{
    int provided;
    int own;
    int chips;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS || provided < MPI_THREAD_FUNNELED) {
        partita_fail("MPI doesn't start, or allows no threads");
    }
    verify(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    verify(MPI_Comm_rank(MPI_COMM_WORLD, &own));
    verify(MPI_Comm_size(MPI_COMM_WORLD, &chips));
    if (chips > MAX_CHIPS) {
        partita_fail("more ranks than the maximum number of chips");
    }
    partita_options.chip = own;
    partita_options.chips = chips;
}

void partita_disconnect_chips(void)
{
    verify(MPI_Finalize());
}

static void begin(struct partita_message *message, int32_t chip, const void *l2, uint32_t bytes, int32_t is_send)
{
    if (chip < 0 || chip >= partita_options.chips || chip == partita_options.chip) {
        partita_fail("a message to or from a chip that doesn't exist");
    }
    if (bytes > INT32_MAX) {
        partita_fail("a message has more bytes than MPI can count");
    }
    /* The sent data is only read. */
    *message = (struct partita_message){
        .data = (uint8_t *)(uintptr_t)l2, .bytes = bytes, .chip = chip, .is_send = is_send};
}

void partita_send_start(struct partita_message *message, int32_t chip, const void *l2, uint32_t bytes)
{
    MPI_Request request;
    begin(message, chip, l2, bytes, 1);
    verify(MPI_Isend(message->data, (int)bytes, MPI_BYTE, chip, 0, MPI_COMM_WORLD, &request));
    memcpy(message->header, &request, sizeof request);
    sent[chip] += bytes;
    partita_moved.sent += bytes;
}

void partita_receive_start(struct partita_message *message, int32_t chip, void *l2, uint32_t bytes)
{
    MPI_Request request;
    begin(message, chip, l2, bytes, 0);
    verify(MPI_Irecv(message->data, (int)bytes, MPI_BYTE, chip, 0, MPI_COMM_WORLD, &request));
    memcpy(message->header, &request, sizeof request);
    partita_moved.received += bytes;
}

/* Frees the request of a message that has ended, and checks its size if it was received. */
static void complete(struct partita_message *message, const MPI_Status *status)
{
    const MPI_Request none = MPI_REQUEST_NULL;
    int count = 0;
    memcpy(message->header, &none, sizeof none);
    if (message->is_send) {
        return;
    }
    verify(MPI_Get_count(status, MPI_BYTE, &count));
    if ((uint32_t)count != message->bytes) {
        fail_size();
    }
}

static MPI_Request request_of(const struct partita_message *message)
{
    MPI_Request request;
    memcpy(&request, message->header, sizeof request);
    return request;
}

void partita_message_wait(struct partita_message *message)
{
    MPI_Request request = request_of(message);
    MPI_Status status;
    if (request != MPI_REQUEST_NULL) {
        verify(MPI_Wait(&request, &status));
        complete(message, &status);
    }
}

int32_t partita_message_ended(struct partita_message *message)
{
    MPI_Request request = request_of(message);
    MPI_Status status;
    int ended = 1;
    if (request != MPI_REQUEST_NULL) {
        verify(MPI_Test(&request, &ended, &status));
        if (ended) {
            complete(message, &status);
        }
    }
    return ended;
}

uint64_t partita_sent_to(int32_t chip)
{
    return sent[chip];
}
