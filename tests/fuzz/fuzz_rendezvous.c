/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strangers at the rendezvous of a job. First they connect to rank 0 and send
 * what the input says; then one of them plays rank 0, and a rank connects to
 * it. Nobody is accepted without a proof.
 */
#include <poll.h>
#include <pthread.h>
#include <sys/un.h>

#include "dapl_rail/job/rendezvous/rendezvous.h"
#include "dapl_rail/job/rendezvous/handshake.h"
#include "dapl_rail/job/socket.h"
#include "fuzz.h"

#define RANKS    3
#define VISITORS 4
#define TIME_MS  5 /* for all of them to come */

static const struct secret secret = {16, "0123456789abcdef"};
static struct address here;
static int listener = -1;

/* Visitors come by a local socket: ports would soon run out. */
static void open_once(void)
{
    struct sockaddr_un *un = (struct sockaddr_un *)&here.where;
    if (listener >= 0)
        return;
    un->sun_family = AF_UNIX;
    here.bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                             (size_t)sprintf(un->sun_path + 1, "fuzz-meet/%d",
                                             (int)getpid()));
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    must(listener >= 0);
    must(!bind(listener, (struct sockaddr *)&here.where, here.bytes));
    must(!listen(listener, 64));
}

static bool change(struct input *in, void *message, size_t bytes)
{
    bool changed = false;
    for (unsigned n = input_byte(in) % 3; n; n--) {
        unsigned char *at = (unsigned char *)message + input_byte(in) % bytes;
        unsigned char value = input_byte(in);
        changed |= *at != value;
        *at = value;
    }
    return changed;
}

/* --------------------------------------------------------------- rank 0 */

struct visits {
    struct input *in;
    unsigned good; /* ranks that have come as they should, as bits */
    int fds[VISITORS];
};

static void one_visit(struct visits *v, int fd)
{
    struct timed_socket s = {.fd = fd, .deadline = deadline_in(TIME_MS)};
    struct join_request hello;
    struct join_reply answer;
    struct join_proof proof;
    uint8_t how = input_byte(v->in);
    unsigned rank = how % (RANKS + 1);
    must(!join_request_make(&hello, rank, RANKS));
    memset(hello.nonce, how, sizeof hello.nonce);
    change(v->in, &hello, offsetof(struct join_request, nonce));
    size_t bytes = how / 4 % 4 == 1 ? how / 16 : sizeof hello;
    if (socket_send(&s, &hello, bytes) || bytes < sizeof hello ||
        socket_recv(&s, &answer, sizeof answer))
        return;
    handshake_mac(&secret, SIDE_RANK, &hello, &answer, proof.mac);
    bool forged = change(v->in, &proof, sizeof proof);
    if (!forged && hello.rank < RANKS)
        v->good |= 1u << hello.rank;
    socket_send(&s, &proof,
                how / 16 % 4 == 1 ? how % sizeof proof : sizeof proof);
    if (how / 64 == 1)
        socket_recv(&s, &answer, sizeof answer);
}

/* Visitors come one after the other, but stay. */
static void *visit(void *arg)
{
    struct visits *v = arg;
    for (unsigned i = 0; i < VISITORS; i++) {
        v->fds[i] = -1;
        if (!v->in->left)
            continue;
        v->fds[i] = address_connect(&here, deadline_in(TIME_MS));
        if (v->fds[i] >= 0)
            one_visit(v, v->fds[i]);
    }
    return NULL;
}

static void keep(struct input *in)
{
    struct visits v = {.in = in};
    pthread_t thread;
    int fds[RANKS];
    drail_error_t err = {0};
    must(!pthread_create(&thread, NULL, visit, &v));
    int rc = rendezvous_serve(listener, RANKS, &secret, deadline_in(TIME_MS),
                              fds, &err);
    must(!pthread_join(thread, NULL));
    must(rc ? *err.text : (v.good & 6) == 6);
    for (unsigned r = 1; r < RANKS; r++) {
        must((fds[r] >= 0) == !rc);
        if (fds[r] >= 0)
            close(fds[r]);
    }
    for (unsigned i = 0; i < VISITORS; i++)
        if (v.fds[i] >= 0)
            close(v.fds[i]);
    for (int late; (late = accept(listener, NULL, NULL)) >= 0;)
        close(late);
}

/* ---------------------------------------------------------- another rank */

struct host {
    struct input *in;
    bool proved;
};

/* A false rank 0. */
static void *receive(void *arg)
{
    struct host *h = arg;
    struct timed_socket s = {.fd = listener, .deadline = deadline_in(TIME_MS)};
    struct join_request hello;
    struct join_reply answer;
    struct join_proof proof;
    if (socket_ready(&s, POLLIN) || (s.fd = accept(listener, NULL, NULL)) < 0)
        return NULL;
    must(!join_reply_make(&answer, RANKS));
    memset(answer.nonce, 1, sizeof answer.nonce);
    change(h->in, &answer, offsetof(struct join_reply, nonce));
    size_t bytes =
        input_byte(h->in) % 8 == 1 ? input_byte(h->in) % 64u : sizeof answer;
    if (socket_recv(&s, &hello, sizeof hello) ||
        socket_send(&s, &answer, bytes) ||
        socket_recv(&s, &proof, sizeof proof))
        goto out;
    handshake_mac(&secret, SIDE_ROOT, &hello, &answer, answer.mac);
    h->proved = !change(h->in, answer.mac, sizeof answer.mac);
    change(h->in, &answer, offsetof(struct join_reply, nonce));
    socket_send(&s, &answer, sizeof answer);
out:
    close(s.fd);
    return NULL;
}

static void enter(struct input *in)
{
    struct host h = {.in = in};
    struct addresses where = {.count = 1, .list = {here}};
    pthread_t thread;
    drail_error_t err = {0};
    must(!pthread_create(&thread, NULL, receive, &h));
    int fd = rendezvous_connect(&where, 1, RANKS, &secret, deadline_in(TIME_MS),
                                &err);
    must(!pthread_join(thread, NULL));
    must(fd < 0 ? *err.text : h.proved);
    if (fd >= 0)
        close(fd);
    for (int late; (late = accept(listener, NULL, NULL)) >= 0;)
        close(late);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    open_once();
    if (input_byte(&in) % 2)
        enter(&in);
    else
        keep(&in);
    return 0;
}
