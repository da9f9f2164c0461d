/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that only pretends to be a peer of the shm provider: it speaks the
 * connection managers' protocol over a raw socket, and owns the segments that
 * the provider maps. Messages, counters, queues and tables may be anything.
 * Each connection that has begun must end.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "fuzz.h"
#include "providers/shm/connect/wire.h"
#include "providers/shm/message/ring.h"
#include "providers/shm/shm.h"
#include "tests/provider/util.h"

#define BYTES   4096
#define STEPS   40
#define SEALED  (F_SEAL_SHRINK | F_SEAL_GROW)
#define HOSTILE 1234567 /* connection qualifier */

static end_t me;
static unsigned char guard[GUARD]; /* of the memory, as it should be */
static uint32_t rail;

/* The pretended peer, of one input. */
static struct {
    struct input *in;
    int socket;                 /* -1: none */
    int segment_fd, control_fd; /* -1: none */
    char *segment;              /* mapped; NULL: none */
    struct shm_doorbell *door;  /* and the table behind it */
    unsigned side;              /* 0: it connects */
    uint64_t tail, backlogged;  /* as a sender counts */
} mad;

static void open_once(void)
{
    DAT_IA_ATTR attr;
    struct sockaddr_storage address = {0};
    if (me.ia)
        return;
    end_open_memory(&me, MEMORY_MEMFD, BYTES, DAT_MEM_PRIV_ALL_FLAG);
    DAT_OK(dat_ep_free(me.ep));
    me.ep = DAT_HANDLE_NULL;
    fill(me.mem.all, GUARD, 1);
    fill(me.mem.data + BYTES, GUARD, 1);
    fill(guard, GUARD, 1);
    DAT_OK(
        dat_ia_query(me.ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0, NULL));
    memcpy(&address, attr.ia_address_ptr, sizeof(struct sockaddr_in));
    rail = shm_cm_rail(&address);
}

/* -------------------------------------------------------------- segments */

/* A mostly correct segment. */
static int segment_of(size_t size, void **map, uint8_t how)
{
    int fd = memfd_create("mad", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    must(fd >= 0 && !ftruncate(fd, (off_t)(how % 8 == 1 ? size / 2 : size)));
    *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must(*map != MAP_FAILED);
    must(!fcntl(fd, F_ADD_SEALS, how % 8 == 2 ? F_SEAL_GROW : SEALED));
    if (how % 8 == 1)
        return fd;
    uint64_t *magic = *map;
    *magic = how % 8 == 3 ? 0 : SHM_MAGIC;
    *(uint32_t *)(magic + 1) = how % 8 == 4 ? 0 : SHM_VERSION;
    return fd;
}

static void segments_make(uint8_t how)
{
    void *map;
    mad.control_fd = segment_of(SHM_CONTROL_SIZE, &map, how % 16);
    mad.door = map;
    mad.segment_fd = segment_of(SHM_SEGMENT_SIZE, &map, how / 16);
    if (how / 16 % 8 != 1)
        mad.segment = map;
    else
        munmap(map, SHM_SEGMENT_SIZE);
}

static struct shm_dir *direction(void)
{
    return &((struct shm_segment *)(void *)mad.segment)->dir[mad.side];
}

static char *ring(void)
{
    return mad.segment + SHM_PAGE + mad.side * SHM_RING_BYTES;
}

static char *backlog(void)
{
    return mad.segment + SHM_PAGE + 2 * SHM_RING_BYTES +
           mad.side * SHM_BACKLOG_BYTES;
}

/* -------------------------------------------------------------- messages */

static void say(enum shm_cm_type type)
{
    struct input *in = mad.in;
    struct shm_cm_msg msg = {.magic = SHM_MAGIC,
                             .version = SHM_VERSION,
                             .type = type,
                             .ep_id = 1,
                             .private_size = input_byte(in)};
    int fds[4] = {mad.segment_fd, mad.control_fd, mad.control_fd,
                  mad.segment_fd};
    int first = type == SHM_CM_REQUEST ? 0 : 1;
    unsigned nfds = type <= SHM_CM_ACCEPT ? 2 - (unsigned)first : 0;
    for (unsigned changes = input_byte(in) % 4; changes; changes--)
        ((uint8_t *)&msg)[input_byte(in) % 48] = input_byte(in);
    uint8_t odd = input_byte(in);
    size_t bytes = odd % 8 == 1 ? odd : sizeof msg;
    if (odd % 8 == 2)
        nfds = odd / 8 % (5 - (unsigned)first);
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof fds)];
    } control = {0};
    struct iovec iov = {&msg, bytes};
    struct msghdr h = {.msg_iov = &iov, .msg_iovlen = 1};
    while (nfds && fds[first + (int)nfds - 1] < 0)
        nfds--;
    if (nfds) {
        h.msg_control = control.bytes;
        h.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&h);
        *c = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
                              .cmsg_type = SCM_RIGHTS,
                              .cmsg_len = CMSG_LEN(nfds * sizeof(int))};
        memcpy(CMSG_DATA(c), fds + first, nfds * sizeof(int));
    }
    (void)!sendmsg(mad.socket, &h, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ------------------------------------------------------- set-up: both ways */

static void ep_make(void)
{
    DAT_OK(dat_ep_create(me.ia, me.pz, me.recv, me.request, me.conn, NULL,
                         &me.ep));
}

/* The connection's next event; it must come. libFuzzer's clock is a signal. */
static DAT_EVENT_NUMBER next_of_connection(void)
{
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_RETURN status;
    do
        status = dat_evd_wait(me.conn, WAIT_MS * 1000, 1, &event, &more);
    while (DAT_GET_TYPE(status) == DAT_INTERRUPTED_CALL);
    DAT_OK(status);
    return event.event_number;
}

/* A request has been sent: it is refused, or arrives. */
static DAT_CR_HANDLE request_arrives(void)
{
    DAT_EVENT event;
    struct pollfd end = {.fd = mad.socket, .events = POLLIN};
    for (unsigned ms = 0; ms < WAIT_MS; ms++) {
        if (dat_evd_dequeue(me.cr, &event) == DAT_SUCCESS)
            return event.event_data.cr_arrival_event_data.cr_handle;
        if (poll(&end, 1, 1) > 0 && end.revents & POLLHUP)
            return DAT_HANDLE_NULL;
    }
    must(!"an answer to the request");
    return DAT_HANDLE_NULL;
}

/* The pretended peer connects. True: the connection is established. */
static bool it_connects(void)
{
    mad.socket = shm_cm_socket();
    must(mad.socket >= 0 && !shm_cm_connect(mad.socket, rail, me.qual));
    segments_make(input_byte(mad.in));
    uint8_t first = input_byte(mad.in);
    say(first % 8 ? SHM_CM_REQUEST : (enum shm_cm_type)(first / 8));
    DAT_CR_HANDLE cr = request_arrives();
    uint8_t then = input_byte(mad.in);
    if (!cr)
        return false;
    if (then % 8 == 1) {
        dat_cr_reject(cr, 3, "no");
        return false;
    }
    if (then % 8 == 2) /* more than there is to say */
        say((enum shm_cm_type)(then / 8));
    ep_make();
    DAT_OK(dat_cr_accept(cr, me.ep, 0, NULL));
    if (then % 8 == 3)
        shutdown(mad.socket, SHUT_RDWR);
    else
        say(then % 8 == 4 ? (enum shm_cm_type)(then / 8) : SHM_CM_CONFIRM);
    return next_of_connection() == DAT_CONNECTION_EVENT_ESTABLISHED;
}

static void await_input(int fd)
{
    struct pollfd in = {.fd = fd, .events = POLLIN};
    int n;
    do
        n = poll(&in, 1, WAIT_MS);
    while (n < 0 && errno == EINTR);
    must(n == 1);
}

/* Takes the segment that came with a request. */
static void take_segment(void)
{
    struct shm_cm_msg msg;
    int fds[SHM_CM_FDS];
    await_input(mad.socket);
    must(shm_cm_recv(mad.socket, &msg, fds) == 1 && fds[0] >= 0);
    close(fds[1]);
    void *map = mmap(NULL, SHM_SEGMENT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
                     fds[0], 0);
    must(map != MAP_FAILED);
    mad.segment_fd = fds[0];
    mad.segment = map;
}

/* We connect to it. */
static bool we_connect(void)
{
    int listener = shm_cm_socket();
    mad.side = 1;
    must(listener >= 0 && !shm_cm_bind(listener, rail, HOSTILE));
    ep_make();
    DAT_OK(end_connect(&me, HOSTILE));
    await_input(listener);
    mad.socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    must(mad.socket >= 0);
    close(listener);
    take_segment();
    void *map;
    mad.control_fd =
        segment_of(SHM_CONTROL_SIZE, &map, input_byte(mad.in) % 16);
    mad.door = map;
    uint8_t first = input_byte(mad.in);
    if (first % 8 == 1)
        shutdown(mad.socket, SHUT_RDWR);
    else
        say(first % 8 ? SHM_CM_ACCEPT : (enum shm_cm_type)(first / 8));
    return next_of_connection() == DAT_CONNECTION_EVENT_ESTABLISHED;
}

/* ------------------------------------------------------ with a connection */

static void write_counters(void)
{
    uint64_t value = 0; /* in its first bytes */
    unsigned at = input_byte(mad.in) % (sizeof(struct shm_dir) / 8);
    struct shm_dir *dir = direction();
    if (input_byte(mad.in) % 2) /* and where it should only read */
        dir = &((struct shm_segment *)(void *)mad.segment)->dir[!mad.side];
    input_take(mad.in, &value, 1 + input_byte(mad.in) % 8);
    __atomic_store_n((uint64_t *)dir + at, value, __ATOMIC_SEQ_CST);
}

static void write_head(struct shm_msg *m)
{
    struct input *in = mad.in;
    m->head = (struct shm_head){.kind = input_byte(in) % 5,
                                .nseg = input_byte(in),
                                .length = input_byte(in) * 16u};
    input_take(in, m->payload, input_byte(in));
    for (unsigned changes = input_byte(in) % 4; changes; changes--)
        ((uint8_t *)&m->head)[input_byte(in) % sizeof m->head] = input_byte(in);
}

static void write_ring(void)
{
    struct shm_msg *m = shm_line(ring(), mad.tail);
    if ((char *)m + 1024 > ring() + SHM_RING_BYTES)
        return; /* mapped once here */
    write_head(m);
    atomic_store(&m->seq, mad.tail + 1);
    mad.tail += 1 + input_byte(mad.in) % 32;
}

static void write_backlog(void)
{
    struct shm_msg *m = shm_slot(backlog(), mad.backlogged);
    write_head(m);
    atomic_store(&direction()->backlogged, ++mad.backlogged);
}

static void write_table(void)
{
    struct shm_mr *table =
        (struct shm_mr *)(void *)((char *)mad.door + SHM_PAGE);
    struct shm_mr *e = &table[input_byte(mad.in)];
    uint32_t key = (uint32_t)(e - table) + CORE_MAX_MRS * input_byte(mad.in);
    *e = (struct shm_mr){.priv = input_byte(mad.in),
                         .base = (uintptr_t)me.mem.all,
                         .length = 64u * input_byte(mad.in),
                         .fd = input_byte(mad.in) % 2 ? mad.segment_fd : -1,
                         .offset = input_byte(mad.in)};
    atomic_store(&e->key, key);
    atomic_fetch_add(&mad.door->withdrawals, 1);
}

static void drain(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event;
    while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
        ;
}

static void one_step(void)
{
    uint8_t what = input_byte(mad.in);
    DAT_LMR_TRIPLET all = local(&me.mem, 0, 16u * input_byte(mad.in));
    switch (what % 12) {
    case 0:
        write_counters();
        break;
    case 1:
        write_backlog();
        break;
    case 2:
        write_table();
        break;
    case 3:
        say((enum shm_cm_type)(what / 12 % 7));
        break;
    case 4:
        dat_ep_disconnect(me.ep, what < 128 ? DAT_CLOSE_GRACEFUL_FLAG
                                            : DAT_CLOSE_ABRUPT_FLAG);
        break;
    case 5:
        dat_ep_post_send(me.ep, 1, &all, cookie(what), 0);
        break;
    case 6:
    case 7:
        dat_ep_post_recv(me.ep, 1, &all, cookie(what), 0);
        break;
    case 8:
        drain(me.recv);
        drain(me.request);
        break;
    default:
        write_ring();
    }
}

/* Ends the connection, perhaps inside an access, which it leaves when the
 * provider has seen the end: it must see it soon. */
static void peer_goes(void)
{
    struct pollfd end = {.fd = mad.socket};
    int n;
    shutdown(mad.socket, SHUT_WR);
    do
        n = poll(&end, 1, WAIT_MS / 2);
    while (n < 0 && errno == EINTR);
    must(n == 1 && end.revents & POLLHUP);
    for (int slot = 0; slot < 2; slot++)
        atomic_store(&direction()->access[slot], 0);
}

static void finish(bool established)
{
    DAT_EVENT event;
    if (established)
        peer_goes();
    if (mad.socket >= 0)
        close(mad.socket);
    /* the end is told, once */
    if (established)
        must(next_of_connection() != DAT_CONNECTION_EVENT_ESTABLISHED);
    drain(me.recv);
    drain(me.request);
    if (me.ep)
        DAT_OK(dat_ep_free(me.ep));
    me.ep = DAT_HANDLE_NULL;
    must(dat_evd_dequeue(me.conn, &event) != DAT_SUCCESS);
    drain(me.recv);
    drain(me.request);
    drain(me.async);
    drain(me.cr);
    must(!memcmp(guard, me.mem.all, GUARD));
    must(!memcmp(guard, me.mem.data + BYTES, GUARD));
    if (mad.segment)
        munmap(mad.segment, SHM_SEGMENT_SIZE);
    if (mad.door)
        munmap(mad.door, SHM_CONTROL_SIZE);
    if (mad.segment_fd >= 0)
        close(mad.segment_fd);
    if (mad.control_fd >= 0)
        close(mad.control_fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    open_once();
    memset(&mad, 0, sizeof mad);
    mad.in = &in;
    mad.socket = mad.segment_fd = mad.control_fd = -1;
    bool established = input_byte(&in) % 2 ? we_connect() : it_connects();
    for (unsigned i = 0; established && in.left && i < STEPS; i++)
        one_step();
    finish(established);
    return 0;
}
