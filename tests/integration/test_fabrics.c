/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rails match by fabric, in whatever order a rank lists them; ranks of one host
 * use rails that don't leave it, others those of networks. Which host a rank is
 * on is told by this program's gethostname(), and rails of shared memory say
 * that they are those of networks.
 */
#include <arpa/inet.h>
#include <ifaddrs.h>

#include "conf.h"
#include "memory.h"

#include "dapl_rail/links/peer.h"
#include "hello_said.h"

#define RAILS 3

static const char rails[] =
    RAIL("in0", "fabric=in") RAIL("left0", "fabric=left scope=network")
        RAIL("right0", "fabric=right scope=network")
            RAIL("left1", "fabric=left scope=network")
                RAIL("left2", "rate=1000 adapter=l port=left")
                    RAIL("right2", "rate=1000 adapter=r port=right")
                        RAIL("left3", "rate=1000 adapter=l port=left")
                            RAIL("right3", "rate=1000 adapter=r port=right");

static unsigned host; /* of this rank */

static bool misled; /* requests over the first rail go where nobody is */

static bool change_hello(DAT_EP_HANDLE ep, struct link_hello *hello,
                         DAT_CONN_QUAL *qual)
{
    if (misled && hello->rail == 0)
        *qual += 1u << 30;
    return true;
}

/* Rails whose ports are interfaces, each a network of its own. */
static struct {
    struct ifaddrs interface;
    struct sockaddr_in address, mask;
} ports[2];

STAND_IN int getifaddrs(struct ifaddrs **all)
{
    *all = ports[0].address.sin_family ? &ports[0].interface : NULL;
    return 0;
}

STAND_IN void freeifaddrs(struct ifaddrs *all)
{
}

static void find_ports(void)
{
    static const char *const names[] = {"left2", "right2"};
    drail_rail_info_t info;
    for (unsigned i = 0; i < 2; i++) {
        check(drail_rail_query(names[i], &info, NULL) == 0);
        ports[i].address.sin_family = ports[i].mask.sin_family = AF_INET;
        check(inet_pton(AF_INET, info.address, &ports[i].address.sin_addr));
        ports[i].mask.sin_addr.s_addr = UINT32_MAX;
        ports[i].interface =
            (struct ifaddrs){.ifa_next = i ? NULL : &ports[1].interface,
                             .ifa_addr = (struct sockaddr *)&ports[i].address,
                             .ifa_netmask = (struct sockaddr *)&ports[i].mask};
    }
}

STAND_IN int gethostname(char *name, size_t size)
{
    snprintf(name, size, "host%u", host);
    return 0;
}

/* Each rank's rails, in an order of its own; rank 2's left one has another
 * name. */
static void listed(drail_config_t *cfg, unsigned rank)
{
    static const char *const order[3][RAILS] = {
        {"in0", "left0", "right0"},
        {"right0", "in0", "left0"},
        {"left1", "right0", "in0"},
    };
    cfg->nrails = RAILS;
    for (unsigned r = 0; r < RAILS; r++) {
        cfg->rails[r] = order[rank % 3][r];
        /* of rail left: 1, in: 2, right: 3 */
        cfg->weights[r] = order[rank % 3][r][0] == 'l'   ? 1
                          : order[rank % 3][r][0] == 'i' ? 2
                                                         : 3;
        if (order[rank % 3][r][0] == 'r')
            cfg->fixed_rail = r;
    }
}

/* The same hosts and rails as the test's transport, which is not connected. */
static void reopen(struct rank *r, unsigned of_host)
{
    drail_config_t cfg;
    drail_error_t err = {0};
    drail_close(r->t);
    host = of_host;
    drail_config_init(&cfg);
    cfg.connect_timeout_ms = 5000;
    listed(&cfg, r->rank);
    if (drail_open(r->job, &cfg, &r->t, &err))
        printf("# rank %u: drail_open: %s\n", r->rank, err.text);
    check(err.code == 0);
}

/* Rails listed in any order take the order of rank 0, with all their
 * settings. */
static void in_order(struct rank *r)
{
    static const char *const fabrics[RAILS] = {"shm:in", "shm:left",
                                               "shm:right"};
    static const double weights[RAILS] = {2, 1, 3};
    reopen(r, 0);
    for (unsigned i = 0; i < RAILS; i++) {
        const drail_rail_info_t *info = drail_rail_at(r->t, i);
        check(!strcmp(info->fabric, fabrics[i]));
        check(info->host_only == (i == 0));
        check(!strcmp(info->name, drail_config_of(r->t)->rails[i]));
        check(drail_config_of(r->t)->weights[i] == weights[i]);
    }
    check(drail_config_of(r->t)->fixed_rail == 2);
    check(!strcmp(drail_rail_at(r->t, 1)->name,
                  r->rank == 2 ? "left1" : "left0"));
}

/* On one fabric, those of the same network, whatever their names are. */
static void by_network(struct rank *r)
{
    drail_config_t cfg;
    drail_close(r->t);
    find_ports();
    drail_config_init(&cfg);
    cfg.nrails = 2;
    cfg.rails[0] = r->rank ? "right3" : "left2";
    cfg.rails[1] = r->rank ? "left3" : "right2";
    check(drail_open(r->job, &cfg, &r->t, NULL) == 0);
    check(!strcmp(drail_rail_at(r->t, 0)->name, r->rank ? "left3" : "left2"));
    check(strstr(drail_rail_at(r->t, 0)->network, "/32"));
    expect(r, 0, drail_connect(r->t, r->peer));
}

static uint64_t puts_over(struct rank *r, unsigned rail)
{
    return rail_stats(r, rail).put_bytes;
}

/* Writes to each peer in turn, striped: over which rails has it gone? */
static void write_to_all(struct rank *r,
                         uint32_t (*want)(unsigned a, unsigned b))
{
    enum { BYTES = 1 << 16 };
    unsigned char *bytes;
    drail_mem_t *mem;
    drail_key_t keys[4];
    for (unsigned p = 0; p < r->size; p++)
        if (p != r->rank)
            expect(r, 0, drail_connect(r->t, p));
    expect(
        r, 0,
        drail_set_engine(r->t, DRAIL_ENGINE_NONTHREADED, DRAIL_TEAM_RESIDENT));
    expect(r, 0,
           drail_mem_alloc(r->t, r->size * BYTES, DRAIL_ACCESS_ALL,
                           (void **)&bytes, &mem));
    exchange_keys(r, mem, keys);
    memset(bytes + r->rank * BYTES, (int)r->rank + 1, BYTES);
    for (unsigned p = 0; p < r->size; p++) {
        drail_xfer_t x = {.local = bytes + r->rank * BYTES,
                          .local_mem = mem,
                          .remote = &keys[p],
                          .remote_offset = r->rank * BYTES,
                          .bytes = BYTES};
        uint64_t before[RAILS];
        if (p == r->rank)
            continue;
        for (unsigned i = 0; i < RAILS; i++)
            before[i] = puts_over(r, i);
        expect(r, 0, drail_put(r->t, p, &x, DRAIL_NOTIFY, p, NULL));
        for (unsigned i = 0; i < RAILS; i++)
            check((puts_over(r, i) > before[i]) == (want(r->rank, p) >> i & 1));
    }
    for (unsigned p = 0; p < r->size; p++) {
        uint32_t id;
        if (p == r->rank)
            continue;
        expect(r, 0, drail_notify_wait(r->t, p, &id, -1));
        for (unsigned i = 0; i < BYTES; i++)
            check(bytes[p * BYTES + i] == p + 1);
    }
    barrier(r);
    expect(r, 0, drail_mem_release(mem));
}

static uint32_t two_hosts_want(unsigned a, unsigned b)
{
    return a / 2 == b / 2 ? 1 : 6;
}

/* Ranks 0 and 1 on one host, 2 and 3 on another. */
static void two_hosts(struct rank *r)
{
    char text[512];
    reopen(r, r->rank / 2);
    write_to_all(r, two_hosts_want);
    check(r->t->common == 0);
    drail_explain(r->t, 1 << 16, text, sizeof text);
    check(strstr(text, "left") && strstr(text, "right") &&
          !strstr(text, "in0"));
}

static uint32_t one_host_want(unsigned a, unsigned b)
{
    return 1;
}

static void one_host(struct rank *r)
{
    reopen(r, 7);
    write_to_all(r, one_host_want);
    check(r->t->common == 1);
}

static uint32_t each_alone_want(unsigned a, unsigned b)
{
    return 6;
}

/* All add to a word of rank 0's. */
static void add_to_first(struct rank *r)
{
    enum { N = 20 };
    uint64_t *word;
    drail_mem_t *mem;
    drail_key_t keys[4];
    expect(r, 0,
           drail_mem_alloc(r->t, 64, DRAIL_ACCESS_ALL, (void **)&word, &mem));
    exchange_keys(r, mem, keys);
    for (unsigned n = 0; n < N && r->rank; n++)
        expect(r, 0,
               drail_atomic(r->t, 0, DRAIL_FETCH_ADD, &keys[0], 0, 1, 0, NULL));
    if (r->rank)
        expect(r, 0, drail_notify(r->t, 0, 0, 0));
    for (unsigned p = 1; p < r->size && !r->rank; p++)
        expect(r, 0, drail_notify_wait(r->t, p, NULL, -1));
    if (!r->rank)
        check(__atomic_load_n(word, __ATOMIC_SEQ_CST) == N * (r->size - 1));
    barrier(r);
    expect(r, 0, drail_mem_release(mem));
}

/* Ranks of one host that can't share memory, whatever they said. */
static void nobody_inside(struct rank *r)
{
    reopen(r, 7);
    misled = true;
    write_to_all(r, each_alone_want);
    add_to_first(r);
    misled = false;
}

static void each_alone(struct rank *r)
{
    reopen(r, r->rank);
    write_to_all(r, each_alone_want);
    check(r->t->common == 6);
}

/* Rails that don't leave their hosts are all there are: those of one host are
 * connected, which tells nothing of others. */
static void nothing_between(struct rank *r)
{
    drail_config_t cfg;
    drail_error_t err = {0};
    drail_close(r->t);
    host = r->rank / 2;
    drail_config_init(&cfg);
    take_rails(&cfg, 2);
    check(drail_open(r->job, &cfg, &r->t, &err) == 0);
    if (host == 0)
        expect(r, 0, drail_connect(r->t, r->peer));
    unsigned far = host ? 0 : 2;
    expect(r, DRAIL_EPEER, drail_connect(r->t, far));
    check(strstr(drail_last_error(r->t), "no rail"));
    check(strstr(drail_last_error(r->t), host ? "host0" : "host1"));
    expect(r, DRAIL_EPEER, drail_notify(r->t, far, 0, 0));
    barrier(r);
}

static const struct test tests[] = {
    {"in rank 0's order", 3, in_order, NULL, APART},
    {"by network", 2, by_network, NULL, APART},
    {"two hosts", 4, two_hosts, NULL, APART},
    {"one host", 3, one_host, NULL, APART},
    {"nobody inside", 3, nobody_inside, NULL, APART},
    {"each on its host", 3, each_alone, NULL, APART},
    {"nothing between hosts", 3, nothing_between, NULL, APART},
};

RUN_TESTS_AFTER(conf_restart(argv, rails), 1, tests)
