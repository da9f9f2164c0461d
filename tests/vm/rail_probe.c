/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shows a DAT provider's events at both ends of a connection when its link goes
 * down and comes back: plain DAT calls, nothing of dapl_rail. A line for each
 * event, in milliseconds since the link went down.
 *
 * usage: rail_probe LOAD THEN IA-INITIATOR IA-TARGET DOWN UP STAY
 *   LOAD   write: RDMA writes all the time; send: sends; idle: a receive is
 *          all that is posted
 *   THEN   what both ends do 500 ms after the link went down: watch, or
 *          disconnect their EP (abrupt, graceful), and reset it if not all of
 *          its DTOs have come back a second later; late: abrupt, before UP
 *   DOWN   command that takes the link down; UP: that brings it back
 *   STAY   milliseconds between them
 * After UP a connection that is left is watched for 5 s, a new one is made
 * where there is none. Exit status 1: that was not possible.
 */
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dat2/udat.h>

enum {
    BYTES = 16384,
    DEPTH = 8,
    LOAD_MS = 1000,
    THEN_MS = 500, /* after the link went down */
    LATE_MS = 8000,
    LIMIT_MS = 60000, /* of each wait */
    STATUSES = 16,
};

enum load { IDLE, SEND, WRITE };
enum then { WATCH, ABRUPT, GRACEFUL, LATE };

/* Shared by both processes. */
static struct shared {
    DAT_SOCK_ADDR6 address; /* of the target */
    DAT_CONN_QUAL qual;
    DAT_VADDR va;
    DAT_RMR_CONTEXT rmr;
    _Atomic int64_t down; /* when the link went down, 0: not yet */
    atomic_int then;      /* the target's next step */
    atomic_int ready, over;
} * shared;

struct end {
    const char *name;
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async, dto, conn, cr;
    DAT_PZ_HANDLE pz;
    DAT_LMR_HANDLE lmr;
    DAT_LMR_CONTEXT context;
    DAT_RMR_CONTEXT rmr;
    DAT_EP_HANDLE ep;
    char *buffer;
    int state;           /* event of the present EP that came last, 0: none */
    int outstanding;     /* requests of the present EP */
    int receives;        /* its receives */
    long done[STATUSES]; /* completions by status, since the last phase */
    int64_t last;        /* the last one that succeeded */
};

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

__attribute__((format(printf, 2, 3))) static void say(const struct end *end,
                                                      const char *format, ...)
{
    va_list args;
    char text[200];
    int64_t down = atomic_load(&shared->down);
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (down)
        printf("%8ld ms  %-9s %s\n", (long)(now() - down), end->name, text);
    else
        printf("%11s  %-9s %s\n", "", end->name, text);
    fflush(stdout);
}

static void must(DAT_RETURN status, const char *what)
{
    const char *major = "", *minor = "";
    if (status == DAT_SUCCESS)
        return;
    dat_strerror(status, &major, &minor);
    fprintf(stderr, "rail_probe: %s: %s %s\n", what, major, minor);
    exit(1);
}

static void end_open(struct end *end, const char *name, const char *ia)
{
    DAT_VLEN length;
    DAT_VADDR start;
    end->name = name;
    end->async = DAT_HANDLE_NULL;
    must(dat_ia_open((char *)ia, 8, &end->async, &end->ia), "dat_ia_open");
    must(dat_pz_create(end->ia, &end->pz), "dat_pz_create");
    must(dat_evd_create(end->ia, 8 * DEPTH, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG,
                        &end->dto),
         "dat_evd_create");
    must(dat_evd_create(end->ia, 64, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG,
                        &end->conn),
         "dat_evd_create");
    must(
        dat_evd_create(end->ia, 64, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &end->cr),
        "dat_evd_create");
    end->buffer = mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    DAT_REGION_DESCRIPTION where = {.for_va = end->buffer};
    must(dat_lmr_create(end->ia, DAT_MEM_TYPE_VIRTUAL, where, 2 * BYTES,
                        end->pz, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA,
                        &end->lmr, &end->context, &end->rmr, &length, &start),
         "dat_lmr_create");
}

/* EPs are never freed: what comes late for an old one is to be seen, too. */
static void ep_make(struct end *end)
{
    DAT_EP_ATTR attr = {
        .service_type = DAT_SERVICE_TYPE_RC,
        .max_message_size = BYTES,
        .max_rdma_size = BYTES,
        .qos = DAT_QOS_BEST_EFFORT,
        .recv_completion_flags = DAT_COMPLETION_DEFAULT_FLAG,
        .request_completion_flags = DAT_COMPLETION_DEFAULT_FLAG,
        .max_recv_dtos = 2 * DEPTH,
        .max_request_dtos = DEPTH,
        .max_recv_iov = 1,
        .max_request_iov = 1,
        .max_rdma_read_iov = 1,
        .max_rdma_write_iov = 1,
    };
    must(dat_ep_create(end->ia, end->pz, end->dto, end->dto, end->conn, &attr,
                       &end->ep),
         "dat_ep_create");
    end->state = end->outstanding = end->receives = 0;
}

static DAT_LMR_TRIPLET segment(const struct end *end, size_t offset)
{
    return (DAT_LMR_TRIPLET){.virtual_address =
                                 (uintptr_t)(end->buffer + offset),
                             .segment_length = BYTES,
                             .lmr_context = end->context};
}

static void receive(struct end *end)
{
    DAT_LMR_TRIPLET iov = segment(end, BYTES);
    DAT_DTO_COOKIE cookie = {.as_64 = 1};
    must(
        dat_ep_post_recv(end->ep, 1, &iov, cookie, DAT_COMPLETION_DEFAULT_FLAG),
        "dat_ep_post_recv");
    end->receives++;
}

static bool request(struct end *end, enum load load)
{
    DAT_LMR_TRIPLET iov = segment(end, 0);
    DAT_DTO_COOKIE cookie = {.as_64 = 0};
    DAT_RMR_TRIPLET to = {.virtual_address = shared->va,
                          .segment_length = BYTES,
                          .rmr_context = shared->rmr};
    DAT_RETURN status =
        load == WRITE ? dat_ep_post_rdma_write(end->ep, 1, &iov, cookie, &to,
                                               DAT_COMPLETION_DEFAULT_FLAG)
                      : dat_ep_post_send(end->ep, 1, &iov, cookie,
                                         DAT_COMPLETION_DEFAULT_FLAG);
    if (status == DAT_SUCCESS)
        end->outstanding++;
    return status == DAT_SUCCESS;
}

static const char *dto_name(DAT_DTO_COMPLETION_STATUS status)
{
    static const char *const names[STATUSES] = {
        [DAT_DTO_SUCCESS] = "SUCCESS",
        [DAT_DTO_ERR_FLUSHED] = "ERR_FLUSHED",
        [DAT_DTO_ERR_LOCAL_LENGTH] = "ERR_LOCAL_LENGTH",
        [DAT_DTO_ERR_LOCAL_EP] = "ERR_LOCAL_EP",
        [DAT_DTO_ERR_LOCAL_PROTECTION] = "ERR_LOCAL_PROTECTION",
        [DAT_DTO_ERR_BAD_RESPONSE] = "ERR_BAD_RESPONSE",
        [DAT_DTO_ERR_REMOTE_ACCESS] = "ERR_REMOTE_ACCESS",
        [DAT_DTO_ERR_REMOTE_RESPONDER] = "ERR_REMOTE_RESPONDER",
        [DAT_DTO_ERR_TRANSPORT] = "ERR_TRANSPORT",
        [DAT_DTO_ERR_RECEIVER_NOT_READY] = "ERR_RECEIVER_NOT_READY",
    };
    return names[status] ? names[status] : "another error";
}

static void dto_take(struct end *end, const DAT_EVENT *event)
{
    const DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event->event_data.dto_completion_event_data;
    unsigned status = (unsigned)dto->status % STATUSES;
    bool is_receive = dto->user_cookie.as_64 == 1;
    if (dto->ep_handle == end->ep)
        *(is_receive ? &end->receives : &end->outstanding) -= 1;
    if (!end->done[status]++ && dto->status != DAT_DTO_SUCCESS)
        say(end, "DTO %s, the first (of a %s)", dto_name(dto->status),
            is_receive ? "receive" : "request");
    if (dto->status != DAT_DTO_SUCCESS)
        return;
    if (dto->ep_handle != end->ep)
        say(end, "DTO SUCCESS of an old EP");
    end->last = now();
    if (is_receive && dto->ep_handle == end->ep)
        receive(end);
}

static const char *event_name(DAT_EVENT_NUMBER number)
{
    switch (number) {
    case DAT_CONNECTION_EVENT_ESTABLISHED:
        return "ESTABLISHED";
    case DAT_CONNECTION_EVENT_PEER_REJECTED:
        return "PEER_REJECTED";
    case DAT_CONNECTION_EVENT_NON_PEER_REJECTED:
        return "NON_PEER_REJECTED";
    case DAT_CONNECTION_EVENT_DISCONNECTED:
        return "DISCONNECTED";
    case DAT_CONNECTION_EVENT_BROKEN:
        return "BROKEN";
    case DAT_CONNECTION_EVENT_TIMED_OUT:
        return "TIMED_OUT";
    case DAT_CONNECTION_EVENT_UNREACHABLE:
        return "UNREACHABLE";
    default:
        return "another connection event";
    }
}

static void connection_take(struct end *end, const DAT_EVENT *event)
{
    bool present =
        event->event_data.connect_event_data.ep_handle == (void *)end->ep;
    say(end, "connection %s%s", event_name(event->event_number),
        present ? "" : " (of an old EP)");
    if (present)
        end->state = (int)event->event_number;
}

static void request_take(struct end *end, const DAT_EVENT *event)
{
    say(end, "a connection request");
    ep_make(end);
    for (int i = 0; i < 2 * DEPTH; i++)
        receive(end);
    DAT_RETURN status = dat_cr_accept(
        event->event_data.cr_arrival_event_data.cr_handle, end->ep, 0, NULL);
    if (status != DAT_SUCCESS)
        say(end, "dat_cr_accept: 0x%x", (unsigned)status);
}

/* Takes all events that are there; naps when there were none. */
static void look(struct end *end)
{
    DAT_EVENT event;
    bool some = false;
    while (dat_evd_dequeue(end->async, &event) == DAT_SUCCESS) {
        say(end, "asynchronous event 0x%x", (unsigned)event.event_number);
        some = true;
    }
    while (dat_evd_dequeue(end->conn, &event) == DAT_SUCCESS) {
        connection_take(end, &event);
        some = true;
    }
    while (dat_evd_dequeue(end->cr, &event) == DAT_SUCCESS) {
        request_take(end, &event);
        some = true;
    }
    for (int n = 0; n < 64 && dat_evd_dequeue(end->dto, &event) == DAT_SUCCESS;
         n++) {
        dto_take(end, &event);
        some = true;
    }
    if (!some)
        usleep(200);
}

/* The requests completed since the last call. */
static void summary(struct end *end)
{
    for (int i = 0; i < STATUSES; i++) {
        if (end->done[i])
            say(end, "  %ld DTOs %s", end->done[i], dto_name(i));
        end->done[i] = 0;
    }
    if (end->last && atomic_load(&shared->down))
        say(end, "  the last that succeeded at %ld ms",
            (long)(end->last - atomic_load(&shared->down)));
}

/* Waits until all DTOs of the EP have come back, a second at most. */
static bool come_back(struct end *end)
{
    int64_t began = now();
    while (end->outstanding + end->receives && now() - began < 1000)
        look(end);
    say(end, "%d requests and %d receives are still out after %ld ms",
        end->outstanding, end->receives, (long)(now() - began));
    return !(end->outstanding + end->receives);
}

static void end_connection(struct end *end, enum then then)
{
    static const char *const names[] = {"", "abrupt", "graceful", "abrupt"};
    int64_t began = now();
    DAT_RETURN status =
        dat_ep_disconnect(end->ep, then == ABRUPT ? DAT_CLOSE_ABRUPT_FLAG
                                                  : DAT_CLOSE_GRACEFUL_FLAG);
    say(end, "dat_ep_disconnect(%s): 0x%x, took %ld ms", names[then],
        (unsigned)status, (long)(now() - began));
    if (come_back(end))
        return;
    began = now();
    status = dat_ep_reset(end->ep);
    say(end, "dat_ep_reset: 0x%x, took %ld ms", (unsigned)status,
        (long)(now() - began));
    come_back(end);
}

static void target(const char *ia)
{
    struct end end = {0};
    DAT_PSP_HANDLE psp;
    DAT_IA_ATTR attr;
    end_open(&end, "target", ia);
    must(dat_ia_query(end.ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL),
         "dat_ia_query");
    memcpy(&shared->address, attr.ia_address_ptr, sizeof shared->address);
    must(dat_psp_create_any(end.ia, &shared->qual, end.cr,
                            DAT_PSP_CONSUMER_FLAG, &psp),
         "dat_psp_create_any");
    shared->va = (uintptr_t)end.buffer;
    shared->rmr = end.rmr;
    atomic_store(&shared->ready, 1);
    while (!atomic_load(&shared->over)) {
        enum then then = (enum then)atomic_exchange(&shared->then, WATCH);
        if (then != WATCH)
            end_connection(&end, then);
        look(&end);
    }
    summary(&end);
    _exit(0);
}

/* Connects a new EP; true when it is up. */
static bool connect_once(struct end *end, int limit_ms)
{
    int64_t began = now();
    ep_make(end);
    for (int i = 0; i < DEPTH; i++)
        receive(end);
    say(end, "dat_ep_connect");
    DAT_RETURN status =
        dat_ep_connect(end->ep, (DAT_IA_ADDRESS_PTR)&shared->address,
                       shared->qual, DAT_TIMEOUT_INFINITE, 0, NULL,
                       DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
    if (status != DAT_SUCCESS) {
        say(end, "dat_ep_connect: 0x%x", (unsigned)status);
        return false;
    }
    while (!end->state && now() - began < limit_ms)
        look(end);
    if (!end->state) {
        dat_ep_disconnect(end->ep, DAT_CLOSE_ABRUPT_FLAG);
        say(end, "no answer in %d ms, given up by an abrupt disconnect",
            limit_ms);
    }
    return end->state == DAT_CONNECTION_EVENT_ESTABLISHED;
}

static void run_load(struct end *end, enum load load, int64_t until)
{
    while (now() < until && end->state == DAT_CONNECTION_EVENT_ESTABLISHED) {
        while (load != IDLE && end->outstanding < DEPTH)
            if (!request(end, load))
                break;
        look(end);
    }
}

static void command(struct end *end, const char *text)
{
    int64_t began = now();
    int status = system(text);
    say(end, "\"%s\" took %ld ms%s", text, (long)(now() - began),
        status ? ", FAILED" : "");
}

/* The place of `word` in a list that ends with NULL; -1: nowhere. */
static int place(const char *const list[], const char *word)
{
    for (int i = 0; list[i]; i++)
        if (!strcmp(list[i], word))
            return i;
    return -1;
}

static bool reconnect(struct end *end, enum load load)
{
    int64_t up = now();
    bool connected;
    while (!(connected = connect_once(end, 10000)) && now() - up < LIMIT_MS)
        usleep(100000);
    say(end, "%s %ld ms after the link is up",
        connected ? "connected" : "NOT connected", (long)(now() - up));
    run_load(end, load, now() + LATE_MS); /* the old EP may go on, too */
    return connected;
}

static void both_end(struct end *end, enum then then)
{
    atomic_store(&shared->then, then);
    end_connection(end, then);
}

static void cut(struct end *end, enum load load, enum then then, char **argv)
{
    atomic_store(&shared->down, now());
    command(end, argv[0]);
    int64_t down = now();
    run_load(end, load, down + THEN_MS);
    if (then == ABRUPT || then == GRACEFUL)
        both_end(end, then);
    while (now() < down + atoi(argv[2]))
        if (end->state == DAT_CONNECTION_EVENT_ESTABLISHED)
            run_load(end, load, down + atoi(argv[2]));
        else
            look(end);
    if (then == LATE)
        both_end(end, then);
    summary(end);
    command(end, argv[1]);
}

int main(int argc, char **argv)
{
    static const char *const loads[] = {"idle", "send", "write", NULL};
    static const char *const thens[] = {"watch", "abrupt", "graceful", "late",
                                        NULL};
    struct end end = {0};
    int load = argc == 8 ? place(loads, argv[1]) : -1;
    int then = argc == 8 ? place(thens, argv[2]) : -1;
    if (load < 0 || then < 0) {
        fprintf(stderr,
                "usage: rail_probe idle|send|write "
                "watch|abrupt|graceful|late IA-INITIATOR IA-TARGET DOWN UP "
                "STAY\n");
        return 2;
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        target(argv[4]);
    }
    end_open(&end, "initiator", argv[3]);
    while (!atomic_load(&shared->ready) && !waitpid(child, NULL, WNOHANG))
        usleep(1000);

    if (!connect_once(&end, 10000))
        return 1;
    run_load(&end, load, now() + LOAD_MS);
    summary(&end);
    cut(&end, load, then, argv + 5);
    if (end.state == DAT_CONNECTION_EVENT_ESTABLISHED) {
        run_load(&end, load, now() + 5000);
        say(&end, "the connection %s",
            end.state == DAT_CONNECTION_EVENT_ESTABLISHED ? "lives on"
                                                          : "has ended");
    }
    bool connected =
        end.state == DAT_CONNECTION_EVENT_ESTABLISHED || reconnect(&end, load);
    summary(&end);
    atomic_store(&shared->over, 1);
    waitpid(child, NULL, 0);
    return !connected;
}
