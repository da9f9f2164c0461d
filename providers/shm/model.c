/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rails with a link model. A message occupies, from when it is posted, every
 * resource on its way for bytes / rate: the sender's host bus, adapter and
 * port, then the receiver's port, adapter and bus. Each is a clock that says
 * until when it is taken, per direction; rails that name the same resource
 * share its clock. The message is delivered when the last of them has let it
 * through, and a latency later: store-less, as cut-through hardware, so that
 * rates add up as in eqs. (1) to (3) of seed 004.
 *
 * The bytes themselves are copied at once. Clocks lie in a memfd of the
 * process (which stands for the node) that peers map.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm.h"

enum { OUTBOUND, INBOUND };

/* The node's resources: opened by the first modelled rail, kept until the
 * process ends (the library is not unloaded). */
static struct {
    pthread_mutex_t lock;
    int fd;
    uint64_t inode;
    struct shm_clock *clocks;
    unsigned used;
    struct {
        char kind;
        char name[SHM_NAME_MAX];
        double rate;
        double change_rate; /* of ports */
        size_t change_after;
    } what[SHM_CLOCKS];
} node = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static struct shm_clock *map_clocks(int fd)
{
    void *p = mmap(NULL, SHM_CLOCKS * sizeof(struct shm_clock),
                   PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

static int node_open(void)
{
    struct stat st;
    if (node.clocks)
        return 0;
    int fd =
        shm_memfd("dapl-shm-clocks", SHM_CLOCKS * sizeof(struct shm_clock));
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) || !(node.clocks = map_clocks(fd))) {
        close(fd);
        return -1;
    }
    node.fd = fd;
    node.inode = st.st_ino;
    return 0;
}

/* Adds the resource to the rail's way. Rates are in MB/s = bytes/us. */
static int add_hop(const char *rail, struct shm_way *way, char kind,
                   const char *name, double rate)
{
    unsigned at = 0;
    while (at < node.used &&
           (node.what[at].kind != kind || strcmp(node.what[at].name, name)))
        at++;
    if (at == SHM_CLOCKS) {
        fprintf(stderr,
                "dapl shm: rail %s: more than %d ports, adapters and "
                "buses\n",
                rail, SHM_CLOCKS);
        return -1;
    }
    if (at == node.used) {
        node.what[at].kind = kind;
        snprintf(node.what[at].name, SHM_NAME_MAX, "%s", name);
        node.what[at].rate = rate;
        node.used++;
    } else if (node.what[at].rate != rate) {
        fprintf(stderr,
                "dapl shm: rail %s: %s in dat.conf: %g MB/s for '%s', "
                "another rail says %g\n",
                rail,
                kind == 'p'   ? "rate"
                : kind == 'a' ? "adapter_rate"
                              : "bus_rate",
                rate, name, node.what[at].rate);
        return -1;
    }
    way->hop[way->hops].clock = at;
    way->hop[way->hops++].ns_per_byte = 1000.0 / rate;
    return 0;
}

/* The way's port will have another rate later: it must be one and the same for
 * all rails of the port. */
static int add_change(const char *rail, struct shm_way *way,
                      const struct shm_params *p, bool first)
{
    unsigned port = way->hop[0].clock;
    if (first) {
        node.what[port].change_rate = p->change_rate;
        node.what[port].change_after = p->change_after;
    } else if (node.what[port].change_rate != p->change_rate ||
               node.what[port].change_after != p->change_after) {
        fprintf(stderr,
                "dapl shm: rail %s: change_rate in dat.conf: another rail of "
                "port '%s' says otherwise\n",
                rail, node.what[port].name);
        return -1;
    }
    way->change_after = p->change_after;
    way->change_ns_per_byte = p->change_rate > 0 ? 1000.0 / p->change_rate : 0;
    return 0;
}

static uint64_t to_ns(double us)
{
    return (uint64_t)(us * 1000.0 + 0.5);
}

int shm_model_open(struct shm_ia *sia)
{
    const struct shm_params *p = &sia->params;
    struct shm_doorbell *door = sia->control.door;
    struct shm_way *way = &door->way;
    const char *rail = sia->ia->name;
    char port[SHM_NAME_MAX];
    snprintf(port, sizeof port, "%.31s", p->port[0] ? p->port : rail);
    if (!(p->rate > 0))
        return 0;
    pthread_mutex_lock(&node.lock);
    int err = node_open();
    unsigned known = node.used;
    if (!err)
        err = add_hop(rail, way, 'p', port, p->rate);
    if (!err)
        err = add_change(rail, way, p, node.used > known);
    if (!err && p->adapter_rate > 0)
        err = add_hop(rail, way, 'a', p->adapter, p->adapter_rate);
    if (!err && p->bus_rate > 0)
        err = add_hop(rail, way, 'b', p->bus, p->bus_rate);
    pthread_mutex_unlock(&node.lock);
    if (err)
        return -1;
    sia->clocks = node.clocks;
    sia->latency_ns = to_ns(p->latency_us);
    sia->gap_ns = to_ns(p->gap_us);
    door->clocks_fd = node.fd;
    door->clocks_inode = node.inode;
    return 0;
}

struct shm_clock *shm_model_map(pid_t pid, const struct shm_doorbell *door)
{
    char path[64];
    struct stat st;
    if (door->way.hops > SHM_HOPS)
        return NULL;
    for (unsigned i = 0; i < door->way.hops; i++)
        if (door->way.hop[i].clock >= SHM_CLOCKS)
            return NULL;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, door->clocks_fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    struct shm_clock *clocks = NULL;
    if (!fstat(fd, &st) && st.st_ino == door->clocks_inode &&
        shm_memfd_ok(fd, SHM_CLOCKS * sizeof *clocks))
        clocks = map_clocks(fd);
    close(fd);
    return clocks;
}

void shm_model_unmap(struct shm_clock *clocks)
{
    if (clocks)
        munmap(clocks, SHM_CLOCKS * sizeof *clocks);
}

static uint64_t take(struct shm_clock *clock, int direction, uint64_t now,
                     uint64_t cost)
{
    _Atomic uint64_t *busy = &clock->busy_until[direction];
    uint64_t old = atomic_load_explicit(busy, memory_order_relaxed), end;
    do {
        end = (old > now ? old : now) + cost;
    } while (!atomic_compare_exchange_weak(busy, &old, end));
    return end;
}

/* What a byte costs on the port: that may have changed by now. */
static double port_cost(struct shm_clock *clocks, const struct shm_way *way,
                        int direction, uint64_t bytes)
{
    if (!(way->change_ns_per_byte > 0))
        return way->hop[0].ns_per_byte;
    uint64_t carried =
        atomic_fetch_add(&clocks[way->hop[0].clock].carried[direction], bytes);
    return carried < way->change_after ? way->hop[0].ns_per_byte
                                       : way->change_ns_per_byte;
}

static uint64_t take_way(struct shm_clock *clocks, const struct shm_way *way,
                         int direction, uint64_t now, uint64_t bytes,
                         uint64_t gap)
{
    uint64_t last = now;
    for (unsigned i = 0; i < way->hops; i++) {
        double ns_per_byte = i ? way->hop[i].ns_per_byte
                               : port_cost(clocks, way, direction, bytes);
        uint64_t cost = (uint64_t)((double)bytes * ns_per_byte + 0.5);
        uint64_t end = take(&clocks[way->hop[i].clock], direction, now,
                            cost + (i ? 0 : gap));
        last = end > last ? end : last;
    }
    return last;
}

uint64_t shm_model_deliver(struct shm_conn *c, uint64_t bytes, bool read)
{
    struct shm_ia *sia = c->sia;
    uint64_t now = shm_now_ns() + (read ? sia->latency_ns : 0);
    int mine = read ? INBOUND : OUTBOUND;
    uint64_t here = take_way(sia->clocks, &sia->control.door->way, mine, now,
                             bytes, sia->gap_ns);
    uint64_t there = take_way(c->peer->clocks, &c->peer->control.door->way,
                              !mine, now, bytes, 0);
    return (here > there ? here : there) + sia->latency_ns;
}

void shm_model_overhead(const struct shm_ia *sia)
{
    uint64_t end = shm_now_ns() + to_ns(sia->params.overhead_us);
    while (shm_now_ns() < end)
        ;
}
