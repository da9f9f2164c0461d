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

/* ------------------------------------------ between bond and linker --- */

static void *members; /* handle of their library */
static int held;      /* by the registry and the bond: so many times */
static bool let_go;   /* it was held, and then was not */

STAND_IN void *dlopen(const char *path, int flags)
{
    void *library = real(dlopen)(path, flags);
    if (library && path && strstr(path, "/libdapl_shm.so")) {
        members = library;
        held++;
    }
    return library;
}

STAND_IN int dlclose(void *library)
{
    if (library == members && held)
        let_go |= --held == 0;
    return real(dlclose)(library);
}

/* --------------------------------------------------------------- tests --- */

static void only_ask(void *ia)
{
    ia_attributes_of(ia);
    assert_int_equal(held, 0);
}

static void use(void *ia)
{
    end_t a, b;
    end_open_on(&a, ia, NULL);
    end_open_on(&b, ia, NULL);
    end_connect_both(&a, &b);
    end_close(&a);
    end_close(&b);
    assert_true(held > 0);
}

/* A process that has only asked for attributes holds nothing. */
static void stay_if_used(void **state)
{
    static char bonds[][sizeof "bond-one"] = {"bond-one", "bond-two"};
    for (unsigned i = 0; i < 2; i++) {
        join(spawn(only_ask, bonds[i]));
        join(spawn(use, bonds[i]));
    }
}

static void use_after_fork(void *ia)
{
    assert_true(let_go);
    use(ia);
}

static void fork_and_use(void *ia)
{
    use(ia);
    assert_false(let_go);
    join(spawn(use_after_fork, ia));
    use(ia);
}

/* A forked copy of a library has no threads, so the child has to load it
 * anew. */
static void let_go_before_a_fork(void **state)
{
    join(spawn(fork_and_use, "bond-two"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stay_if_used),
        cmocka_unit_test(let_go_before_a_fork),
    };
    restart_with_lines(argv, lines, sizeof lines / sizeof *lines);
    return cmocka_run_group_tests(tests, NULL, remove_rails);
}
