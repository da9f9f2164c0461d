/* SPDX-License-Identifier: BSD-3-Clause */
/* How many trials must agree before copies of a class bypass the caches. */
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "providers/shm/memory/copy.h"
#include "providers/shm/shm.h"

#define MEGABYTE (1u << 20)

static const double *trials; /* non-temporal time by plain time; ends in 0 */
static double unread = 0.8;  /* the same of what nobody reads */

static void (*meanwhile)(void); /* in the first trial */

int shm_trial(size_t bytes, bool here, struct shm_times times[2])
{
    void (*call)(void) = meanwhile;
    meanwhile = NULL;
    if (call)
        call();
    assert_true(*trials > 0);
    times[0] = (struct shm_times){1000, 1000};
    times[1] = (struct shm_times){1000 * *trials++, 1000 * unread};
    return 0;
}

/* Each test asks for a class of its own: verdicts last. */
static bool choice_of(bool write, size_t bytes, const double *outcomes)
{
    struct shm_ia sia = {.params.stream_bytes = SHM_STREAM_MEASURED};
    sia.stream_least = shm_choice_least(&sia.params);
    trials = outcomes;
    shm_choice_measure(&sia, write, bytes);
    return bytes >= sia.stream_least &&
           shm_choose(&sia, write, bytes, NULL).stream;
}

static bool choice(size_t bytes, const double *outcomes)
{
    return choice_of(true, bytes, outcomes);
}

static void one_trial_of_three_does_not_decide(void **state)
{
    static const double outcomes[] = {0.8, 0.8, 1.2, 0};
    assert_false(choice(MEGABYTE, outcomes));
}

static void a_lost_first_trial_ends_it(void **state)
{
    static const double outcomes[] = {1.2, 0};
    assert_false(choice(4 * MEGABYTE, outcomes));
}

/* … but each copy looks whether it finds its data in caches. */
static void plain_ones_look(void **state)
{
    static const double outcomes[] = {1.2, 0};
    struct shm_ia sia = {.params.stream_bytes = SHM_STREAM_MEASURED};
    struct shm_cold cold;
    sia.stream_least = shm_choice_least(&sia.params);
    assert_false(choice(4 * MEGABYTE, outcomes));
    if (!shm_can_stream)
        skip();
    struct shm_manner manner = shm_choose(&sia, true, 4 * MEGABYTE, &cold);
    assert_ptr_equal(manner.cold, &cold);
    assert_true(manner.warm > 0 && manner.warm < 1);
    assert_null(shm_choose(&sia, true, 4 * MEGABYTE, NULL).cold);
}

static void three_won_trials_decide(void **state)
{
    static const double outcomes[] = {0.8, 0.8, 0.8, 0};
    if (!shm_can_stream)
        skip();
    assert_true(choice(16 * MEGABYTE, outcomes));
    assert_true(choice(16 * MEGABYTE, outcomes + 3));
}

static void copies_that_lose_unread_do_not_decide(void **state)
{
    static const double outcomes[] = {0.8, 0};
    unread = 1.2;
    assert_false(choice_of(false, 16 * MEGABYTE, outcomes));
    unread = 0.8;
}

static void short_copies_are_not_measured(void **state)
{
    static const double none[] = {0};
    assert_false(choice(MEGABYTE / 2 - 1, none));
}

/* The thread that measures in the parent is missing in the child. */
static void fork_and_measure(void)
{
    static const double outcomes[] = {0.8, 0.8, 0.8, 0};
    int status;
    pid_t pid = fork();
    if (!pid)
        _exit(!choice_of(false, 4 * MEGABYTE, outcomes));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void a_child_measures_for_itself(void **state)
{
    static const double outcomes[] = {1.2, 0};
    if (!shm_can_stream)
        skip();
    meanwhile = fork_and_measure;
    assert_false(choice_of(false, MEGABYTE, outcomes));
    assert_null(meanwhile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_trial_of_three_does_not_decide),
        cmocka_unit_test(a_lost_first_trial_ends_it),
        cmocka_unit_test(plain_ones_look),
        cmocka_unit_test(three_won_trials_decide),
        cmocka_unit_test(copies_that_lose_unread_do_not_decide),
        cmocka_unit_test(short_copies_are_not_measured),
        cmocka_unit_test(a_child_measures_for_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
