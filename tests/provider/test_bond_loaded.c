/* SPDX-License-Identifier: BSD-3-Clause */
/* A bond keeps the libraries of its members loaded, as threads of a member may
 * still run in them when the bond is closed. */
#include <dlfcn.h>

#include "peer.h"

static const char *const lines[][3] = {
    {"libdapl_shm.so", "a", ""},
    {"libdapl_shm.so", "b", ""},
    {"libdapl_bond.so", "bond-one", "a"},
    {"libdapl_bond.so", "bond-two", "a b"},
};

/* ----------------------------------------- between the bond and the linker -- */

static bool kept; /* the members' library */

STAND_IN void *dlopen(const char *path, int flags)
{
    kept |= path && strstr(path, "/libdapl_shm.so") && flags & RTLD_NODELETE;
    return real(dlopen)(path, flags);
}

/* --------------------------------------------------------------- tests --- */

static void only_ask(void *ia)
{
    ia_attributes_of(ia);
    assert_false(kept);
}

static void use(void *ia)
{
    end_t a, b;
    end_open_on(&a, ia, NULL);
    end_open_on(&b, ia, NULL);
    end_connect_both(&a, &b);
    end_close(&a);
    end_close(&b);
    assert_true(kept);
}

/* Each time in a process of its own, as nothing unloads a library that is to
 * stay. A process that asks for attributes and then forks keeps none. */
static void stay_if_used(void **state)
{
    static char bonds[][sizeof "bond-one"] = {"bond-one", "bond-two"};
    for (unsigned i = 0; i < 2; i++) {
        join(spawn(only_ask, bonds[i]));
        join(spawn(use, bonds[i]));
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stay_if_used),
    };
    restart_with_lines(argv, lines, sizeof lines / sizeof *lines);
    return cmocka_run_group_tests(tests, NULL, remove_rails);
}
