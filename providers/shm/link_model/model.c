/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rails with a link model. From its post on, a message occupies each resource
 * of its way for bytes / rate: the sender's bus, adapter and port, and the
 * receiver's port, adapter and bus. A resource is a clock per direction, which
 * says until when it is busy; rails that name the same resource share its
 * clock. The message arrives one latency after the last resource has passed it
 * on. It passes all of them at once, as in cut-through hardware, so rates add
 * up as in eqs. (1) to (3) of Cai et al. 2009.
 *
 * The bytes themselves are copied at once. The clocks lie in a memfd of the
 * process, which stands for a node; peers map it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dapl_rail/platform/memfd.h"
#include "dapl_rail/platform/timens.h"
#include "providers/shm/connection.h"
#include "providers/shm/link_model/cable.h"
#include "providers/shm/link_model/model.h"
#include "providers/shm/memory/peer.h"
#include "providers/shm/shm.h"

enum { OUTBOUND, INBOUND };

enum kind { PORT, ADAPTER, BUS };

/* Parameters on which rails that name one resource must agree. */
static const struct {
    const char *name;
    const char *fields[6];
} kinds[] = {
    [PORT] = {"port",
              {"rate", "gap", "change_rate", "change_after", "adapter"}},
    [ADAPTER] = {"adapter", {"adapter_rate", "bus"}},
    [BUS] = {"bus", {"bus_rate"}},
};

struct resource {
    enum kind kind;
    char name[DAT_NAME_MAX_LENGTH];
    char rail[DAT_NAME_MAX_LENGTH]; /* the first that named it */
    struct shm_params params;       /* of that rail */
};

/* The node's resources, made by the first rail with a model and kept until the
 * process ends. */
static struct {
    pthread_mutex_t lock;
    int fd;
    uint64_t inode;
    struct shm_clock *clocks;
    unsigned used;
    struct resource what[SHM_CLOCKS];
} node = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

__attribute__((constructor)) static void hold_over_fork(void)
{
    core_fork_hold(&node.lock);
}

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
        memfd_sealed("dapl-shm-clocks", SHM_CLOCKS * sizeof(struct shm_clock));
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

static int check_same(const struct shm_ia *sia, const struct resource *r)
{
    for (const char *const *field = kinds[r->kind].fields; *field; field++)
        if (!core_params_same(&shm_params_known, *field, &sia->params,
                              &r->params))
            return core_params_bad(&shm_params_known, sia->ia->name, *field,
                                   "rail %s of %s '%s' says otherwise", r->rail,
                                   kinds[r->kind].name, r->name);
    return 0;
}

/* Adds a resource to the rail's way, if it has a rate. Rates are in MB/s =
 * bytes/us. */
static int add_hop(struct shm_ia *sia, enum kind kind, const char *name,
                   double rate)
{
    struct shm_way *way = &sia->way;
    unsigned at = 0;
    while (at < node.used &&
           (node.what[at].kind != kind || strcmp(node.what[at].name, name)))
        at++;
    if (at == SHM_CLOCKS)
        return core_params_bad(
            &shm_params_known, sia->ia->name, kinds[kind].name,
            "more than %d ports, adapters and buses", SHM_CLOCKS);
    struct resource *r = &node.what[at];
    if (at == node.used) {
        r->kind = kind;
        r->params = sia->params;
        snprintf(r->name, sizeof r->name, "%s", name);
        snprintf(r->rail, sizeof r->rail, "%s", sia->ia->name);
        node.used++;
    } else if (check_same(sia, r)) {
        return -1;
    }
    if (rate > 0) {
        way->hop[way->hops].clock = at;
        way->hop[way->hops++].ns_per_byte = 1000.0 / rate;
    }
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
    if (!(p->rate > 0))
        return 0;
    pthread_mutex_lock(&node.lock);
    unsigned before = node.used;
    int err = node_open();
    if (!err)
        err = add_hop(sia, PORT, p->port[0] ? p->port : sia->ia->name, p->rate);
    if (!err && p->adapter[0])
        err = add_hop(sia, ADAPTER, p->adapter, p->adapter_rate);
    if (!err && p->bus[0])
        err = add_hop(sia, BUS, p->bus, p->bus_rate);
    if (err) /* the rail does not open: its names are free again */
        node.used = before;
    pthread_mutex_unlock(&node.lock);
    if (err)
        return -1;
    sia->way.change_after = p->change_after;
    sia->way.change_ns_per_byte =
        p->change_rate > 0 ? 1000.0 / p->change_rate : 0;
    door->way = sia->way;
    sia->clocks = node.clocks;
    sia->latency_ns = to_ns(p->latency_us);
    sia->gap_ns = to_ns(p->gap_us);
    sia->ahead_ns = timens_ahead_ns();
    door->clocks_fd = node.fd;
    door->clocks_inode = node.inode;
    return 0;
}

static bool cost_ok(double ns_per_byte)
{
    return ns_per_byte >= 0 && ns_per_byte <= 1e6; /* 0.001 MB/s; not NaN */
}

/* Checks the copy that is used: the peer may change its own. */
static bool way_ok(const struct shm_way *way)
{
    if (way->hops > SHM_HOPS)
        return false;
    for (unsigned i = 0; i < way->hops; i++)
        if (way->hop[i].clock >= SHM_CLOCKS ||
            !cost_ok(way->hop[i].ns_per_byte))
            return false;
    return cost_ok(way->change_ns_per_byte);
}

struct shm_clock *shm_model_map(pid_t pid, const struct shm_doorbell *door,
                                struct shm_way *way)
{
    char path[64];
    struct stat st;
    *way = door->way;
    atomic_signal_fence(memory_order_seq_cst);
    if (!way_ok(way))
        return NULL;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, door->clocks_fd);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
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

/* ns per byte of the port, whose rate may have changed by now. */
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
                         uint64_t gap, double cable)
{
    uint64_t last = now;
    for (unsigned i = 0; i < way->hops; i++) {
        double ns_per_byte =
            i ? way->hop[i].ns_per_byte
              : port_cost(clocks, way, direction, bytes) * cable;
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
    uint64_t now =
        busywait_now_ns() - sia->ahead_ns + (read ? sia->latency_ns : 0);
    int mine = read ? INBOUND : OUTBOUND;
    double cable = shm_cable_cost(sia);
    uint64_t here =
        take_way(sia->clocks, &sia->way, mine, now, bytes, sia->gap_ns, cable);
    uint64_t there =
        take_way(c->peer->clocks, &c->peer->way, !mine, now, bytes, 0, cable);
    return (here > there ? here : there) + sia->latency_ns + sia->ahead_ns;
}

void shm_model_overhead(const struct shm_ia *sia)
{
    uint64_t end = busywait_now_ns() + to_ns(sia->params.overhead_us);
    while (busywait_now_ns() < end)
        ;
}
