/* SPDX-License-Identifier: BSD-3-Clause */
/* providers/sim: where platforms are found, and those that are shipped. */
#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>
#include "unit.h"
#include "providers/sim/platform.h"

#define SHIPPED "/providers/sim/platforms"

static const char small[] =
    "[cluster]\nnodes = 3\n[node]\nsockets = 1\ncores = 1\nranks = 1\n"
    "[memory]\ncopy_rate = 1 GB/s\n[bus b]\n[adapter a]\nbus = b\n"
    "[rail r]\nadapter = a\nrate = 1 GB/s\nlatency = 1 us\n";

static void put_file(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void must_read(const char *name, unsigned ranks, struct sim_platform *p)
{
    char why[SIM_WHY_MAX] = "";
    if (sim_platform_read(name, ranks, p, why) < 0)
        fail_msg("%s: %s", name, why);
}

static void must_fail(const char *name, const char *reason)
{
    struct sim_platform p;
    char why[SIM_WHY_MAX] = "";
    assert_int_equal(sim_platform_read(name, 0, &p, why), -1);
    if (!strstr(why, reason))
        fail_msg("%s: '%s' is not in: %s", name, reason, why);
    assert_null(strchr(why, '\n'));
}

/* The folder of the sources, where the shipped ones are. */
static const char *shipped(void)
{
    static char path[PATH_MAX];
    const char *source = getenv("SOURCE");
    snprintf(path, sizeof path, "%s" SHIPPED, source ? source : ".");
    return path;
}

struct facts {
    const char *name;
    unsigned nodes, cores, ranks, buses, adapters, rails;
    double alone, together; /* a message of two rails: bytes/s */
};

/* The total rate when these rails of a node send at once, in one direction. */
static double flow(const struct sim_platform *p, unsigned rails)
{
    double adapter[SIM_PARTS_MAX] = {0}, bus[SIM_PARTS_MAX] = {0}, sum = 0;
    for (unsigned i = 0; i < rails; i++)
        adapter[p->rail[i].adapter] += p->rail[i].limit.rate;
    for (unsigned i = 0; i < p->adapters; i++) {
        double most = p->adapter[i].limit.rate;
        bus[p->adapter[i].bus] +=
            most > 0 && most < adapter[i] ? most : adapter[i];
    }
    for (unsigned i = 0; i < p->buses; i++) {
        double most = p->bus[i].limit.rate;
        sum += most > 0 && most < bus[i] ? most : bus[i];
    }
    return sum;
}

static void test_shipped(void **state)
{
    static const struct facts facts[] = {
        {"qsnet2-4x4", 4, 4, 4, 2, 2, 2, 800e6, 1600e6},
        {"connectx-4x4", 4, 4, 4, 1, 1, 1, 1730e6, 1730e6},
        {"ultra24-multiport", 4, 4, 1, 1, 1, 2, 1350e6, 1730e6},
        {"ultra24-multihca", 4, 4, 1, 2, 2, 2, 1350e6, 2700e6},
        {"ultra24-multihca-interrupts", 4, 4, 1, 2, 2, 2, 1350e6, 2700e6},
        {"t3d", 64, 1, 1, 1, 1, 1, 23.256e6, 23.256e6},
        {"sp2", 100, 1, 1, 1, 1, 1, 28.571e6, 28.571e6},
        {"ndr400-2rail", 64, 112, 64, 2, 2, 2, 50e9, 100e9},
        {"ndr400-2rail-leaf32", 256, 112, 64, 2, 2, 2, 50e9, 100e9},
    };
    struct sim_platform p;
    setenv("DRAIL_SIM_PATH", shipped(), 1);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const struct facts *f = &facts[i];
        must_read(f->name, f->nodes * f->ranks, &p);
        assert_int_equal(p.cluster.nodes, f->nodes);
        assert_int_equal(p.node.sockets * p.node.cores, f->cores);
        assert_int_equal(p.node.ranks, f->ranks);
        assert_int_equal(p.buses, f->buses);
        assert_int_equal(p.adapters, f->adapters);
        assert_int_equal(p.rails, f->rails);
        assert_true(flow(&p, 1) == f->alone);
        assert_true(flow(&p, f->rails) == f->together);
    }
}

/* Rails of a node on leaves of their own, or on one leaf. */
static void test_leaves(void **state)
{
    struct sim_platform p;
    setenv("DRAIL_SIM_PATH", shipped(), 1);
    must_read("ndr400-2rail-leaf32", 0, &p);
    assert_int_equal(sim_platform_leaf(&p, 31, 0), 0);
    assert_int_equal(sim_platform_leaf(&p, 31, 1), 1);
    assert_int_equal(sim_platform_leaf(&p, 32, 0), 2);
    assert_int_equal(sim_platform_leaf(&p, 255, 1), 15);
    assert_true(sim_platform_latency(&p, 0, 0, 31) == p.rail[0].latency);
    assert_true(sim_platform_latency(&p, 0, 0, 32) ==
                p.rail[0].latency + p.leaf.spine_latency);
    p.leaf.wiring = SIM_WIRING_NODE;
    assert_int_equal(sim_platform_leaf(&p, 15, 0), 0);
    assert_int_equal(sim_platform_leaf(&p, 15, 1), 0);
    assert_int_equal(sim_platform_leaf(&p, 16, 0), 1);
}

/* Each that is shipped can be read, and none is without its row above. */
static void test_all(void **state)
{
    struct sim_platform p;
    unsigned n = 0;
    DIR *folder = opendir(shipped());
    assert_non_null(folder);
    for (struct dirent *d; (d = readdir(folder));) {
        char path[2 * PATH_MAX];
        const char *end = strstr(d->d_name, ".platform");
        if (d->d_name[0] == '.')
            continue;
        assert_true(end && !strcmp(end, ".platform"));
        snprintf(path, sizeof path, "%s/%.200s", shipped(), d->d_name);
        must_read(path, 1, &p);
        n++;
    }
    closedir(folder);
    assert_int_equal(n, 9);
}

/* The start-up of a message is what the seeds say: us, to 1 ns. */
static void test_start_up(void **state)
{
    static const struct {
        const char *name;
        double us;
    } seeds[] = {{"qsnet2-4x4", 2},
                 {"ultra24-multiport", 2},
                 {"ultra24-multihca", 2},
                 {"t3d", 38},
                 {"sp2", 44}};
    struct sim_platform p;
    setenv("DRAIL_SIM_PATH", shipped(), 1);
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        must_read(seeds[i].name, 0, &p);
        double s = p.message.post + p.rail[0].latency + p.message.notification;
        assert_true(s * 1e6 > seeds[i].us - .001);
        assert_true(s * 1e6 < seeds[i].us + .001);
    }
}

/* The first folder of DRAIL_SIM_PATH that has it, then beside the library. */
static void test_folders(void **state)
{
    struct sim_platform p;
    char base[] = "/tmp/sim_platforms.XXXXXX", folder[64], path[128];
    char folders[PATH_MAX + 128];
    assert_non_null(mkdtemp(base));
    snprintf(folder, sizeof folder, "%s/mine", base);
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/t3d.platform", folder);
    put_file(path, small, strlen(small));

    snprintf(folders, sizeof folders, ":%s/none:%s:%s", base, folder,
             shipped());
    setenv("DRAIL_SIM_PATH", folders, 1);
    must_read("sim:t3d", 3, &p);
    assert_int_equal(p.cluster.nodes, 3);
    must_read("sp2", 0, &p);
    assert_int_equal(p.cluster.nodes, 100);
    snprintf(folders, sizeof folders, "sim:%s", path);
    must_read(folders, 0, &p);
    assert_int_equal(p.cluster.nodes, 3);
    unsetenv("DRAIL_SIM_PATH");
    must_fail("t3d", "no platform 't3d'; allowed are a path, and NAME of a "
                     "NAME.platform in DRAIL_SIM_PATH or beside the library");
    unlink(path);
    rmdir(folder);
    rmdir(base);
}

/* This program stands for the library. */
static void test_beside(void **state)
{
    struct sim_platform p;
    char folder[PATH_MAX], path[PATH_MAX + 64];
    ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 16);
    assert_true(n > 0);
    folder[n] = '\0';
    strcpy(strrchr(folder, '/'), "/platforms");
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/beside.platform", folder);
    put_file(path, small, strlen(small));
    unsetenv("DRAIL_SIM_PATH");
    char why[SIM_WHY_MAX] = "";
    int rc = sim_platform_read("beside", 3, &p, why);
    unlink(path);
    rmdir(folder);
    if (rc < 0)
        fail_msg("%s", why);
    assert_int_equal(p.cluster.nodes, 3);
}

static void test_unreadable(void **state)
{
    char path[] = "/tmp/sim_platform.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    must_fail("/none/such", "/none/such: No such file or directory");
    must_fail("/tmp/", "/tmp/: Is a directory");
    put_file(path, "[cluster]\n\0nodes", 16);
    must_fail(path, ": Invalid argument; allowed is a text file");
    put_file(path, "[cluster]\nnodes = 2\ncores = 1\n", 30);
    must_fail(path, ":3: 'cores' is no key of [cluster]; allowed are nodes");
    assert_int_equal(truncate(path, 2 << 20), 0);
    must_fail(path, ": Invalid argument; allowed is a text file");
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shipped),    cmocka_unit_test(test_leaves),
        cmocka_unit_test(test_all),        cmocka_unit_test(test_start_up),
        cmocka_unit_test(test_folders),    cmocka_unit_test(test_beside),
        cmocka_unit_test(test_unreadable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
