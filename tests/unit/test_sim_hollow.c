/* SPDX-License-Identifier: BSD-3-Clause */
/* providers/sim: which memory has no contents. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "unit.h"
#include "providers/sim/world.h"

#define PART 8192u

static unsigned char *memory;
static bool stays_closed;

/* In the place of libc's. */
int mprotect(void *address, size_t bytes, int access)
{
    if (!stays_closed || access == PROT_NONE)
        return (int)syscall(SYS_mprotect, address, bytes, access);
    errno = ENOMEM;
    return -1;
}

static int open_memory(void **state)
{
    memory = aligned_alloc(PART, 4 * PART);
    return memory ? 0 : -1;
}

static int close_memory(void **state)
{
    free(memory);
    return 0;
}

/* Do bytes go there? */
static bool has_contents(size_t at)
{
    unsigned char byte = 7;
    return sim_move(memory + at, &byte, 1) && memory[at] == 7;
}

static void test_marks(void **state)
{
    const unsigned char *all = memory + PART / 2;
    memset(memory, 0, 4 * PART);
    assert_int_equal(sim_hollow(all, PART, true), 0);
    sim_move(memory + PART / 2, "x", 1);
    assert_int_equal(sim_hollow(all, PART, false), 0);
    assert_int_equal(memory[PART / 2], 0);
    assert_true(has_contents(PART / 2));
}

/* A range that can't be marked, as a part is marked already, stays as it is. */
static void test_overlap(void **state)
{
    memset(memory, 0, 4 * PART);
    assert_int_equal(sim_hollow(memory, 2 * PART, true), 0);
    assert_int_equal(sim_hollow(memory + PART, 2 * PART, true), -1);
    assert_int_equal(sim_hollow(memory + PART, 2 * PART, false), 0);
    sim_move(memory, "x", 1); /* would end this process */
    assert_true(has_contents(2 * PART));
    assert_int_equal(sim_hollow(memory, 2 * PART, false), 0);
    assert_int_equal(memory[0], 0);
    assert_true(has_contents(0));
}

/* A range that can't be opened again keeps no mark: others may get these
 * addresses. */
static void test_closed(void **state)
{
    assert_int_equal(sim_hollow(memory, 2 * PART, true), 0);
    stays_closed = true;
    assert_int_equal(sim_hollow(memory, 2 * PART, false), -1);
    stays_closed = false;
    assert_int_equal(sim_hollow(memory + PART, 2 * PART, true), 0);
    assert_int_equal(sim_hollow(memory + PART, 2 * PART, false), 0);
    assert_int_equal(sim_hollow(memory, PART, true), 0);
    assert_int_equal(sim_hollow(memory, PART, false), 0);
    assert_true(has_contents(0));
    assert_true(has_contents(PART));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_closed),
    };
    return cmocka_run_group_tests(tests, open_memory, close_memory);
}
