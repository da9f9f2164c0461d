/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways that are cut: two ends in network namespaces of their own, and a router
 * between them.
 *
 *   [ a  va ]---[ vx  router  vy ]---[ vb  b ]
 */
#include "tcp.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES   (1u << 20)
#define SOON_MS 4000 /* before keep-alive probes could have told */

static struct {
    int here, there, between; /* namespaces of a, b and the router */
    end_t a, b;
} scene;

static int run(const char *command)
{
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void ip(const char *arguments)
{
    char command[256];
    snprintf(command, sizeof command, "ip %s", arguments);
    assert_int_equal(run(command), 0);
}

static void enter(int space)
{
    assert_int_equal(setns(space, CLONE_NEWNET), 0);
}

static void ip_in(int space, const char *arguments)
{
    enter(space);
    ip(arguments);
    enter(scene.here);
}

static void forward(bool on)
{
    enter(scene.between);
    int fd = open("/proc/sys/net/ipv4/ip_forward", O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, on ? "1" : "0", 1), 1);
    close(fd);
    enter(scene.here);
}

/* ---- the scene */

static void leave_as_skipped(const char *why)
{
    printf("%s\n", why);
    exit(77);
}

/* A namespace to which these interfaces are moved. */
static int new_space(const char *const interfaces[])
{
    int ready[2];
    char text[64], byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (!pid) {
        close(ready[0]);
        (void)!write(ready[1], "", unshare(CLONE_NEWNET) ? 0 : 1);
        close(ready[1]);
        pause();
        _exit(0);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    snprintf(text, sizeof text, "/proc/%d/ns/net", pid);
    int space = open(text, O_RDONLY | O_CLOEXEC);
    assert_true(space >= 0);
    for (; *interfaces; interfaces++) {
        snprintf(text, sizeof text, "link set %s netns %d", *interfaces, pid);
        ip(text);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return space;
}

static void make_namespaces(void)
{
    if (unshare(geteuid() ? CLONE_NEWUSER | CLONE_NEWNET : CLONE_NEWNET))
        leave_as_skipped("no network namespaces here");
    if (run("ip link add va type veth peer name vx &&"
            "ip link add vb type veth peer name vy"))
        leave_as_skipped("no veth here, or no ip(8)");
    scene.here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    assert_true(scene.here >= 0);
    scene.between = new_space((const char *[]){"vx", "vy", NULL});
    scene.there = new_space((const char *[]){"vb", NULL});
    ip("addr add 10.77.1.1/24 dev va");
    ip("link set va up");
    ip("route add default via 10.77.1.254");
    ip_in(scene.between, "addr add 10.77.1.254/24 dev vx");
    ip_in(scene.between, "addr add 10.77.2.254/24 dev vy");
    ip_in(scene.between, "link set vx up");
    ip_in(scene.between, "link set vy up");
    ip_in(scene.there, "addr add 10.77.2.1/24 dev vb");
    ip_in(scene.there, "link set vb up");
    ip_in(scene.there, "route add default via 10.77.2.254");
    forward(true);
}

/* Sockets stay in the namespace where they are made: those of b at its service
 * point. */
static void open_ends(void)
{
    end_open_on(&scene.a, "a", NULL);
    enter(scene.there);
    end_open_on(&scene.b, "b", NULL);
    enter(scene.here);
    for (end_t *end = &scene.a; end; end = end == &scene.a ? &scene.b : NULL)
        region_create(&end->mem, MEMORY_MALLOC, BYTES, end->ia, end->pz,
                      DAT_MEM_PRIV_ALL_FLAG);
}

static void connect_ends(void)
{
    DAT_IA_ATTR attr;
    DAT_OK(dat_ia_query(scene.b.ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0,
                        NULL));
    for (;;) { /* routes and neighbours may need a moment */
        DAT_EVENT event;
        DAT_COUNT more;
        DAT_OK(dat_ep_connect(scene.a.ep, attr.ia_address_ptr, scene.b.qual,
                              WAIT_MS * 1000, 0, NULL, DAT_QOS_BEST_EFFORT,
                              DAT_CONNECT_DEFAULT_FLAG));
        if (!dat_evd_wait(scene.a.conn, 10000, 1, &event, &more)) {
            assert_int_equal(event.event_number,
                             DAT_CONNECTION_EVENT_UNREACHABLE);
            DAT_OK(dat_ep_reset(scene.a.ep));
            continue;
        }
        end_accept(&scene.b);
        EXPECT_EVENT(scene.a.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
        return;
    }
}

static void post_write(end_t *from, end_t *to)
{
    DAT_LMR_TRIPLET here = local(&from->mem, 0, BYTES);
    DAT_RMR_TRIPLET there = remote(&to->mem, 0, BYTES);
    DAT_OK(dat_ep_post_rdma_write(from->ep, 1, &here, cookie(1), &there, 0));
}

static void expect_broken(end_t *end)
{
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_OK(dat_evd_wait(end->conn, SOON_MS * 1000, 1, &event, &more));
    assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_BROKEN);
}

/* So is what was on its way. */
static void expect_broken_write(end_t *end)
{
    DAT_EVENT event;
    DAT_COUNT more;
    expect_broken(end);
    DAT_OK(dat_evd_wait(end->request, WAIT_MS * 1000, 1, &event, &more));
}

/* The way is there again: so is the rail. */
static void again(void)
{
    DAT_OK(dat_ep_reset(scene.a.ep));
    DAT_OK(dat_ep_reset(scene.b.ep));
    connect_ends();
    post_write(&scene.a, &scene.b);
    EXPECT_DTO(scene.a.request, 1, DAT_DTO_SUCCESS, BYTES);
    DAT_OK(dat_ep_disconnect(scene.a.ep, DAT_CLOSE_GRACEFUL_FLAG));
    EXPECT_EVENT(scene.a.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_EVENT(scene.b.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    DAT_OK(dat_ep_reset(scene.a.ep));
    DAT_OK(dat_ep_reset(scene.b.ep));
}

/* ---- the tests */

/* The kernel tells; nothing needs to be on its way. What the other end has sent
 * meanwhile is not acknowledged. */
static void link_down_here(void **state)
{
    connect_ends();
    ip("link set va down");
    expect_broken(&scene.a);
    post_write(&scene.b, &scene.a);
    expect_broken_write(&scene.b);
    DAT_OK(dat_ep_reset(scene.a.ep));
    DAT_OK(end_connect(&scene.a, scene.b.qual));
    EXPECT_EVENT(scene.a.conn, DAT_CONNECTION_EVENT_UNREACHABLE);
    ip("link set va up");
    ip("route add default via 10.77.1.254");
    again();
}

static void carrier_lost(void **state)
{
    connect_ends();
    ip_in(scene.between, "link set vy down");
    expect_broken(&scene.b);
    post_write(&scene.a, &scene.b);
    expect_broken_write(&scene.a);
    ip_in(scene.between, "link set vy up");
    again();
}

/* Neither end has lost its link. */
static void cut_between(void **state)
{
    connect_ends();
    forward(false);
    post_write(&scene.a, &scene.b);
    post_write(&scene.b, &scene.a);
    expect_broken_write(&scene.a);
    expect_broken_write(&scene.b);
    forward(true);
    again();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(link_down_here),
        cmocka_unit_test(carrier_lost),
        cmocka_unit_test(cut_between),
    };
    if (!getenv("TEST_CONF"))
        tcp_or_skip();
    static const char *const rails[][3] = {
        {"libdapl_ofi.so", "a", "device=va silence=400"},
        {"libdapl_ofi.so", "b", "device=vb silence=400"},
    };
    restart_with_lines(argv, rails, 2);
    make_namespaces();
    open_ends();
    int failed = cmocka_run_group_tests(tests, NULL, remove_rails);
    if (!failed) {
        ends_close(&scene.a, &scene.b);
    }
    return failed;
}
