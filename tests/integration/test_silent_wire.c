/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP wires that drop everything, in one direction or both, without a report to
 * either end: the rail is lost soon, no data are lost, and the rail comes back
 * soon after the wire. Two ranks in network namespaces of their own; each rail
 * is a wire with a router in its middle.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "conf.h"
#include "failover.h"

#define RAILS   2
#define FOUND_S 0.6 /* 0.1 on a machine that has time for it */
#define BACK_S  1.5 /* 0.3 */

enum { FROM_FIRST = 1, FROM_SECOND = 2, BOTH = 3 };

static struct {
    int here, there, between; /* namespaces of the ranks and the routers */
    int forwarding[RAILS][2]; /* data of the first rank, of the second */
    _Atomic unsigned entered; /* ranks, in memory that they share */
    _Atomic bool cut;
} * scene;

/* ---- the scene */

static void leave_as_skipped(const char *why)
{
    printf("1..0 # skipped: %s\n", why);
    exit(77);
}

static bool run(const char *command)
{
    return system(command) == 0;
}

static void enter(int space)
{
    check(!setns(space, CLONE_NEWNET));
}

/* printf-like; in that namespace, and back here. */
static void ip_in(int space, const char *format, unsigned rail, unsigned number)
{
    char arguments[128], command[160];
    snprintf(arguments, sizeof arguments, format, rail, rail, number);
    snprintf(command, sizeof command, "ip %s", arguments);
    enter(space);
    check(run(command));
    enter(scene->here);
}

static int space_of(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/ns/net", pid);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* A new namespace, to which this end of each wire is moved. */
static int new_space(const char *const ends)
{
    int ready[2];
    char byte, command[96];
    check(!pipe(ready));
    pid_t pid = fork();
    if (!pid) {
        (void)!write(ready[1], "", unshare(CLONE_NEWNET) ? 0 : 1);
        pause();
        _exit(0);
    }
    close(ready[1]);
    check(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    int space = space_of(pid);
    for (const char *end = ends; *end; end++)
        for (unsigned rail = 0; rail < RAILS; rail++) {
            snprintf(command, sizeof command, "ip link set %c%u netns %d", *end,
                     rail, pid);
            check(run(command));
        }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return space;
}

/* a<rail> --- x<rail> [router] y<rail> --- b<rail> */
static void make_wire(unsigned rail)
{
    char path[96];
    ip_in(scene->here, "addr add 10.77.1%u.1/24 dev a%u", rail, 0);
    ip_in(scene->between, "addr add 10.77.1%u.254/24 dev x%u", rail, 0);
    ip_in(scene->between, "addr add 10.77.2%u.254/24 dev y%u", rail, 0);
    ip_in(scene->there, "addr add 10.77.2%u.1/24 dev b%u", rail, 0);
    ip_in(scene->here, "link set a%u up", rail, 0);
    ip_in(scene->between, "link set x%u up", rail, 0);
    ip_in(scene->between, "link set y%u up", rail, 0);
    ip_in(scene->there, "link set b%u up", rail, 0);
    ip_in(scene->here, "route add 10.77.2%u.0/24 via 10.77.1%u.254", rail, 0);
    ip_in(scene->there, "route add 10.77.1%u.0/24 via 10.77.2%u.254", rail, 0);
    enter(scene->between);
    for (unsigned end = 0; end < 2; end++) {
        snprintf(path, sizeof path, "/proc/sys/net/ipv4/conf/%c%u/forwarding",
                 "xy"[end], rail);
        scene->forwarding[rail][end] = open(path, O_WRONLY | O_CLOEXEC);
        check(scene->forwarding[rail][end] >= 0);
        check(write(scene->forwarding[rail][end], "1", 1) == 1);
    }
    enter(scene->here);
}

static void make_scene(void)
{
    scene = shared_memory(sizeof *scene);
    if (unshare(geteuid() ? CLONE_NEWUSER | CLONE_NEWNET : CLONE_NEWNET))
        leave_as_skipped("no network namespaces here");
    scene->here = space_of(getpid());
    if (!run("ip link add a0 type veth peer name x0 &&"
             "ip link add a1 type veth peer name x1 &&"
             "ip link add b0 type veth peer name y0 &&"
             "ip link add b1 type veth peer name y1"))
        leave_as_skipped("no veth here, or no ip(8)");
    scene->between = new_space("xy");
    scene->there = new_space("b");
    for (unsigned rail = 0; rail < RAILS; rail++)
        make_wire(rail);
}

static void use_wire(unsigned rail, unsigned directions, bool on)
{
    for (unsigned end = 0; end < 2; end++)
        if (directions & 1u << end)
            check(pwrite(scene->forwarding[rail][end], on ? "1" : "0", 1, 0) ==
                  1);
}

/* The second rank is at the other ends of the wires, with other rails of these
 * names. Either rank may be second. */
static void two_hosts(drail_config_t *cfg)
{
    static const char *const names[2][RAILS] = {{"here0", "here1"},
                                                {"there0", "there1"}};
    unsigned second = scene->entered++ % 2;
    if (second)
        enter(scene->there);
    for (unsigned rail = 0; rail < RAILS; rail++)
        cfg->rails[rail] = names[second][rail];
    cfg->nrails = RAILS;
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
}

static void threaded(drail_config_t *cfg)
{
    two_hosts(cfg);
    cfg->engine = DRAIL_ENGINE_THREADED;
}

/* ---- the tests */

static bool rail_is_up(const struct rank *r, unsigned rail)
{
    return rail_stats(r, rail).up;
}

/* Rank 0 tells how often; both stop at the same turn. */
static bool agree(struct rank *r, bool more)
{
    uint32_t said;
    expect(r, 0, drail_notify(r->t, r->peer, 0, more));
    expect(r, 0, drail_notify_wait(r->t, r->peer, &said, -1));
    return r->rank == 0 ? more : said;
}

/* Until the rail is so at rank 0; returns how long that took. */
static double run_until(struct rank *r, const struct script *s, bool up)
{
    double begin = seconds();
    for (unsigned turn = 0; agree(r, rail_is_up(r, 1) != up); turn++) {
        check(seconds() < begin + 20);
        puts_cross(r, s, 2 * STRIPED + 7, DRAIL_ALL_RAILS, 16 + turn);
        messages(r, s, STRIPED, turn);
        get_back(r, s, STRIPED, 16 + turn);
    }
    return seconds() - begin;
}

static void cut_and_mend(struct rank *r, unsigned directions)
{
    struct script s;
    script_open(r, &s);
    script_run(r, &s, 1);
    check(!stats_sum(r).failures);
    barrier(r);
    if (r->rank == 0)
        use_wire(1, directions, false);
    double found = run_until(r, &s, false);
    /* most in the stream's own operations: two of them may wait for it */
    check(found < FOUND_S);
    script_run(r, &s, 2);
    check(stats_sum(r).failures == 1);
    barrier(r);
    if (r->rank == 0)
        use_wire(1, directions, true);
    double back = run_until(r, &s, true);
    check(back < BACK_S);
    await_rails(r);
    if (r->rank == 0)
        printf("# left after %.0f ms, back after %.0f ms\n", found * 1e3,
               back * 1e3);
    script_close(r, &s);
}

static void one_direction(struct rank *r)
{
    cut_and_mend(r, FROM_FIRST);
}

static void other_direction(struct rank *r)
{
    cut_and_mend(r, FROM_SECOND);
}

static void both_directions(struct rank *r)
{
    cut_and_mend(r, BOTH);
}

/* No rail answers: none is left. */
static void all_wires_pause(struct rank *r)
{
    struct script s;
    script_open(r, &s);
    script_run(r, &s, 1);
    barrier(r);
    for (unsigned rail = 0; r->rank == 0 && rail < RAILS; rail++)
        use_wire(rail, BOTH, false);
    barrier(r);
    if (r->rank == 1) {
        nap(300);
        for (unsigned rail = 0; rail < RAILS; rail++)
            use_wire(rail, BOTH, true);
    }
    script_run(r, &s, 2);
    await_rails(r);
    script_close(r, &s);
}

static const struct test tests[] = {
    {"both directions", 2, both_directions, two_hosts, 0},
    {"one direction", 2, one_direction, two_hosts, 0},
    {"the other direction", 2, other_direction, two_hosts, 0},
    {"both directions, threads", 2, both_directions, threaded, 0},
    {"all wires", 2, all_wires_pause, two_hosts, 0},
};

int main(int argc, char **argv)
{
    if (!conf_has_ofi())
        leave_as_skipped("there is no libfabric here");
    conf_restart(argv, RAIL_OF("ofi", "here0", "device=a0")
                           RAIL_OF("ofi", "here1", "device=a1")
                               RAIL_OF("ofi", "there0", "device=b0")
                                   RAIL_OF("ofi", "there1", "device=b1"));
    make_scene();
    return run_tests(tests, sizeof tests / sizeof tests[0], 3, argc, argv);
}
