/*
 * Links of the options
 *
 *   --chip I --chips N --links FOLDER [--bandwidth BYTES_PER_SECOND] [--latency NANOSECONDS] [--share link|chip]
 *   [--turns FILE]
 *
 * as Unix sockets between processes, which find each other in the folder. Messages make progress while the program is
 * in one of these functions, and through the sockets' buffers in between. A message carries the time at which a link of
 * the given bandwidth and latency would have delivered it, and isn't received earlier. Each link carries one message at
 * a time; links work in parallel, each with the whole bandwidth, unless those of a chip share it.
 *
 * With turns (clock.h) nothing is delayed. The receiver's clock is set forward instead, and what the host takes to move
 * messages doesn't count.
 */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "../emulated/emulated.h"
#include "../host/clock.h"
#include "bucket.h"

enum { MAX_CHIPS = 64, TRIES = 6000, PAUSE = 10000000, HEADER = 2 * sizeof(uint64_t) };

struct queue {
    struct partita_message *first;
    struct partita_message *last;
};

struct link {
    int socket;
    struct queue sends;
    struct queue receives;
    struct partita_bucket bucket;
    uint64_t sent; /* bytes */
};

static struct link links[MAX_CHIPS];

static const char *folder;        /* of the chips' sockets */
static uint64_t bytes_per_second; /* of a link; 0 for as fast as it gets */
static uint64_t latency;          /* of a link, in nanoseconds */
static int32_t is_shared;         /* whether all links of the chip have the bandwidth together */
static struct partita_bucket shared;

const char partita_link_options[] = "--chip --chips --links --bandwidth --latency --share --turns ";

int32_t partita_link_option(const char *name, const char *value)
{
    if (strcmp(name, "--chip") == 0) {
        partita_options.chip = (int32_t)partita_option_number(value);
    } else if (strcmp(name, "--chips") == 0) {
        partita_options.chips = (int32_t)partita_option_number(value);
    } else if (strcmp(name, "--links") == 0) {
        folder = value;
    } else if (strcmp(name, "--bandwidth") == 0) {
        bytes_per_second = partita_option_number(value);
    } else if (strcmp(name, "--latency") == 0) {
        latency = partita_option_number(value);
    } else if (strcmp(name, "--share") == 0) {
        is_shared = strcmp(value, "chip") == 0;
        if (!is_shared && strcmp(value, "link") != 0) {
            partita_fail("--share needs link or chip");
        }
    } else if (strcmp(name, "--turns") == 0) {
        partita_clock_take_turns(value);
    } else {
        return 0;
    }
    return 1;
}

static uint64_t now(void)
{
    if (partita_clock_takes_turns()) {
        return partita_cycles();
    }
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void sleep_until(uint64_t time)
{
    if (partita_clock_takes_turns()) {
        partita_clock_forward(time);
        return;
    }
    struct timespec until = {(time_t)(time / 1000000000u), (long)(time % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
}

static struct sockaddr_un address(int32_t chip)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int length = snprintf(address.sun_path, sizeof address.sun_path, "%s/%d", folder, (int)chip);
    if (length < 0 || (size_t)length >= sizeof address.sun_path) {
        partita_fail("the name of the links' folder is too long");
    }
    return address;
}

static int opened(void)
{
    const int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    if (descriptor < 0) {
        partita_fail("no socket");
    }
    return descriptor;
}

/* Connects to a chip that is or soon will be listening. */
static int connected(int32_t chip)
{
    const struct sockaddr_un to = address(chip);
    const int descriptor = opened();
    int tries = 0;
    while (connect(descriptor, (const struct sockaddr *)&to, sizeof to) != 0) {
        if (++tries > TRIES) {
            partita_fail("another chip doesn't respond");
        }
        nanosleep(&(struct timespec){0, PAUSE}, NULL);
    }
    const int32_t own = partita_options.chip;
    if (write(descriptor, &own, sizeof own) != (ssize_t)sizeof own) {
        partita_fail("a link failed");
    }
    return descriptor;
}

/* Each chip listens, connects to those before it, and accepts those after it. */
void partita_connect_chips(void)
{
    const int32_t chips = partita_options.chips;
    const int32_t own = partita_options.chip;
    if (chips < 1 || chips > MAX_CHIPS || own < 0 || own >= chips) {
        partita_fail("a chip from 0 to the number of chips, of which there are at most 64");
    }
    if (chips == 1) {
        return;
    }
    if (folder == NULL) {
        partita_fail("several chips need a folder for their links");
    }
    const struct sockaddr_un here = address(own);
    const int listener = opened();
    unlink(here.sun_path);
    if (bind(listener, (const struct sockaddr *)&here, sizeof here) != 0 || listen(listener, MAX_CHIPS) != 0) {
        partita_fail("the links' folder can't be used");
    }
    for (int32_t chip = 0; chip < own; chip++) {
        links[chip].socket = connected(chip);
    }
    for (int32_t count = own + 1; count < chips; count++) {
        int32_t chip;
        const int descriptor = accept(listener, NULL, NULL);
        if (descriptor < 0 || read(descriptor, &chip, sizeof chip) != (ssize_t)sizeof chip || chip <= own ||
            chip >= chips) {
            partita_fail("a link failed");
        }
        links[chip].socket = descriptor;
    }
    for (int32_t chip = 0; chip < chips; chip++) {
        if (chip != own && fcntl(links[chip].socket, F_SETFL, O_NONBLOCK) != 0) {
            partita_fail("a link failed");
        }
    }
    close(listener);
    unlink(here.sun_path);
}

/* Moves as much as the socket allows, the header first. Returns whether the message is complete. */
static int32_t advance(struct partita_message *message)
{
    const int descriptor = links[message->chip].socket;
    const uint32_t all = HEADER + message->bytes;
    while (message->done < all) {
        const int32_t in_header = message->done < HEADER;
        uint8_t *place = in_header ? (uint8_t *)message->header + message->done : message->data + message->done - HEADER;
        const size_t count = (in_header ? HEADER : all) - message->done;
        const ssize_t moved = message->is_send ? send(descriptor, place, count, MSG_NOSIGNAL)
                                               : recv(descriptor, place, count, 0);
        if (moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
            return 0;
        }
        if (moved <= 0) {
            partita_fail("a link failed");
        }
        message->done += (uint32_t)moved;
        if (!message->is_send && message->done == HEADER && message->header[0] != message->bytes) {
            partita_fail("a message of another size than the receiver expects");
        }
    }
    return 1;
}

static void advance_queue(struct queue *queue)
{
    while (queue->first != NULL && advance(queue->first)) {
        queue->first = queue->first->next;
    }
}

static void advance_all(void)
{
    for (int32_t chip = 0; chip < partita_options.chips; chip++) {
        advance_queue(&links[chip].sends);
        advance_queue(&links[chip].receives);
    }
}

static void wait_for_sockets(void)
{
    struct pollfd waiting[MAX_CHIPS];
    nfds_t count = 0;
    for (int32_t chip = 0; chip < partita_options.chips; chip++) {
        const short sends = links[chip].sends.first != NULL ? POLLOUT : 0;
        const short receives = links[chip].receives.first != NULL ? POLLIN : 0;
        if (sends != 0 || receives != 0) {
            waiting[count++] = (struct pollfd){links[chip].socket, (short)(sends | receives), 0};
        }
    }
    poll(waiting, count, -1);
}

static struct link *link_to(int32_t chip)
{
    if (chip < 0 || chip >= partita_options.chips || chip == partita_options.chip) {
        partita_fail("a message to or from a chip that doesn't exist");
    }
    return &links[chip];
}

static void enqueue(struct queue *queue, struct partita_message *message)
{
    if (queue->first == NULL) {
        queue->first = message;
    } else {
        queue->last->next = message;
    }
    queue->last = message;
    advance_all();
}

void partita_send_start(struct partita_message *message, int32_t chip, const void *l2, uint32_t bytes)
{
    struct link *link = link_to(chip);
    partita_clock_stop();
    struct partita_bucket *bucket = is_shared ? &shared : &link->bucket;
    bucket->bytes_per_second = bytes_per_second;
    const uint64_t left = partita_bucket_take(bucket, now(), bytes);
    /* The data is only read. */
    *message = (struct partita_message){.data = (uint8_t *)(uintptr_t)l2,
                                        .bytes = bytes,
                                        .chip = chip,
                                        .is_send = 1,
                                        .header = {bytes, left + latency}};
    partita_moved.sent += bytes;
    link->sent += bytes;
    enqueue(&link->sends, message);
    partita_clock_resume();
}

void partita_receive_start(struct partita_message *message, int32_t chip, void *l2, uint32_t bytes)
{
    struct link *link = link_to(chip);
    partita_clock_stop();
    *message = (struct partita_message){.data = l2, .bytes = bytes, .chip = chip};
    partita_moved.received += bytes;
    enqueue(&link->receives, message);
    partita_clock_resume();
}

static int32_t is_moved(const struct partita_message *message)
{
    return message->done >= HEADER + message->bytes;
}

/* When a message that is moved ends on the link that is imitated. */
static uint64_t end_of(const struct partita_message *message)
{
    if (!message->is_send) {
        return message->header[1];
    }
    return bytes_per_second > 0 ? message->header[1] - latency : 0;
}

void partita_message_wait(struct partita_message *message)
{
    partita_clock_stop();
    advance_all();
    while (!is_moved(message)) {
        partita_clock_yield();
        wait_for_sockets();
        advance_all();
    }
    sleep_until(end_of(message));
    partita_clock_resume();
}

int32_t partita_message_ended(struct partita_message *message)
{
    partita_clock_stop();
    advance_all();
    const int32_t ended = is_moved(message) && end_of(message) <= now();
    partita_clock_resume();
    return ended;
}

uint64_t partita_sent_to(int32_t chip)
{
    return links[chip].sent;
}

/* The sockets close with the process; all awaited messages have been sent. */
void partita_disconnect_chips(void)
{
}
