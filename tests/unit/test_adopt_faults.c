/* SPDX-License-Identifier: BSD-3-Clause */
/* adopt=1 when the kernel refuses a step: the content of the memory stays, and
 * pages that can't be moved back at first are moved back later. The program is
 * linked so that adopt.c's and share_pages.c's calls come here first. */
#include <errno.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "providers/core/core.h"
#include "providers/shm/memory/adopt.h"
#include "tests/adopted.h"
#include "tests/stand_in.h"

#define PAGE  4096u
#define PAGES 300u /* two pieces */

static unsigned calls, fail_at; /* the call of this number fails */
static bool refuse_back;        /* no page can be moved back */
static void *next_calloc;

long __real_syscall(long number, ...);
STAND_IN long __wrap_syscall(long number, ...);
void *__real_calloc(size_t n, size_t size);
STAND_IN void *__wrap_calloc(size_t n, size_t size);

long __wrap_syscall(long number, ...)
{
    long arg[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        arg[i] = va_arg(args, long);
    va_end(args);
    bool back =
        number == SYS_ioctl && arg[1] == (long)UFFDIO_REGISTER &&
        ((struct uffdio_register *)arg[2])->mode == UFFDIO_REGISTER_MODE_WP;
    if (++calls == fail_at || (back && refuse_back)) {
        errno = ENOMEM;
        return -1;
    }
    return __real_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4],
                          arg[5]);
}

void *__wrap_calloc(size_t n, size_t size)
{
    void *at = next_calloc;
    next_calloc = NULL;
    return at ? memset(at, 0, n * size) : __real_calloc(n, size);
}

void core_fork_hold(pthread_mutex_t *lock)
{
}

static size_t pages_in_memfd(void)
{
    return in_memfd(NULL, SIZE_MAX) / PAGE;
}

static unsigned char *memory(size_t pages)
{
    unsigned char *at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(at, MAP_FAILED);
    memset(at, 1, pages * PAGE);
    return at;
}

static bool is_unchanged(const unsigned char *at, size_t pages)
{
    for (size_t i = 0; i < pages * PAGE; i++)
        if (at[i] != 1)
            return false;
    return true;
}

static void add(struct shm_range *r, void *at, size_t pages)
{
    struct shm_file_part part;
    *r = (struct shm_range){.base = (uintptr_t)at, .length = pages * PAGE};
    shm_range_add(r, true, &part);
}

/* The provider then moves back what it could not move back before. */
static void add_and_remove_another(void)
{
    struct shm_range other;
    void *at = memory(1);
    add(&other, at, 1);
    shm_range_remove(&other);
    munmap(at, PAGE);
}

static int start(void **state)
{
    calls = fail_at = 0;
    refuse_back = false;
    add_and_remove_another();
    return 0;
}

/* Adds and removes a range, while call n fails. False: there are fewer calls.
 * Each time in new memory: the kernel may leave the old one as two mappings. */
static bool with_failing_call(unsigned n, bool *left_over)
{
    unsigned char *at = memory(PAGES);
    struct shm_range r;
    calls = 0;
    fail_at = n;
    add(&r, at, PAGES);
    *left_over |= pages_in_memfd() > 0 && pages_in_memfd() < PAGES;
    assert_true(is_unchanged(at, PAGES));
    shm_range_remove(&r);
    assert_true(is_unchanged(at, PAGES));
    bool failed = fail_at <= calls;
    fail_at = 0;
    refuse_back = false;
    add_and_remove_another();
    assert_int_equal(pages_in_memfd(), 0);
    assert_true(is_unchanged(at, PAGES));
    munmap(at, PAGES * PAGE);
    return failed;
}

static void any_call_fails(void **state)
{
    bool left_over = false;
    for (unsigned n = 1; with_failing_call(n, &left_over); n++)
        continue;
}

/* A step fails after the first piece, and no page can be moved back then. */
static void adopted_in_part(void **state)
{
    bool left_over = false;
    unsigned n = 1;
    do
        refuse_back = true;
    while (with_failing_call(n++, &left_over));
    assert_true(left_over);
}

static void register_free_heap(void)
{
    struct shm_range r;
    char *at = malloc(16 * PAGE);
    next_calloc = (char *)(((uintptr_t)at | (PAGE - 1)) + 1);
    add(&r, next_calloc, 4);
    if (pages_in_memfd() != 4)
        _exit(1);
    pid_t pid = fork();
    if (!pid)
        _exit(0);
    int status;
    _exit(waitpid(pid, &status, 0) != pid || status);
}

/* Memory that the allocator gives out meanwhile lies in the range. The provider
 * must not need any while pages are on their way, nor in a forked child. */
static void heap_in_the_range(void **state)
{
    int status;
    pid_t pid = fork();
    if (!pid)
        register_free_heap();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(heap_in_the_range, start),
        cmocka_unit_test_setup(any_call_fails, start),
        cmocka_unit_test_setup(adopted_in_part, start),
    };
    if (!shm_adopt_possible()) {
        printf("skipped: the kernel does not let this process adopt memory\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
