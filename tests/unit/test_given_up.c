/* SPDX-License-Identifier: BSD-3-Clause */
/* All-gathers that a rank does not wait for to the end: it and the server still
 * agree on what the next reply is, or the rank leaves. */
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/job/supervise/oob.h"

#define RANKS   2
#define BYTES   5000 /* each rank's */
#define PATIENT 20   /* seconds */

static struct oob_server server;
static drail_job_t job[RANKS];
static struct oob_channel channel[RANKS];
static pthread_t thread;

/* Until all ranks have gone. */
static void *serve(void *arg)
{
    struct pollfd polls[RANKS];
    for (unsigned left = RANKS; left;) {
        left = 0;
        for (unsigned r = 0; r < RANKS; r++) {
            polls[r] = oob_server_want(&server, r);
            left += polls[r].fd >= 0;
        }
        if (left)
            poll(polls, RANKS, -1);
        for (unsigned r = 0; r < RANKS; r++)
            if (polls[r].fd >= 0 && polls[r].revents)
                oob_server_event(&server, r, polls[r].revents);
    }
    return arg;
}

static int setup(void **state)
{
    alarm(PATIENT);
    int rc = oob_server_open(&server, RANKS);
    for (unsigned r = 0; r < RANKS; r++) {
        int pair[2];
        rc |= socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
        server.ranks[r].fd = pair[0];
        job[r] = (drail_job_t){
            .rank = r, .size = RANKS, .platform = &platform_machine};
        channel[r] = (struct oob_channel){.job = &job[r], .fd = pair[1]};
    }
    return rc | pthread_create(&thread, NULL, serve, NULL);
}

static int teardown(void **state)
{
    for (unsigned r = 0; r < RANKS; r++)
        close(channel[r].fd);
    pthread_join(thread, NULL);
    oob_server_close(&server);
    return 0;
}

static int gather(unsigned rank, int timeout_ms)
{
    unsigned char mine[BYTES], all[RANKS * BYTES];
    memset(mine, (int)rank + 1, sizeof mine);
    int rc = oob_allgather(&channel[rank], mine, sizeof mine, all, timeout_ms);
    for (size_t i = 0; !rc && i < sizeof all; i++)
        assert_int_equal(all[i], i / BYTES + 1);
    return rc;
}

/* Rank 0 comes late, and ends well. */
static void *come_late(void *arg)
{
    static int rc;
    rc = gather(0, -1);
    if (!rc)
        rc = oob_end(&channel[0], 0);
    return &rc;
}

/* The end of rank 0 when rank 1, which has given up, ends like this. */
static int late(int exit, int *of_other)
{
    pthread_t other;
    void *rc;
    assert_int_equal(gather(1, 0), DRAIL_ETIMEOUT);
    assert_int_equal(pthread_create(&other, NULL, come_late, NULL), 0);
    int mine = oob_end(&channel[1], exit);
    pthread_join(other, &rc);
    *of_other = *(int *)rc;
    return mine;
}

static void ends_badly(void **state)
{
    int other;
    assert_int_equal(late(3, &other), DRAIL_EJOB);
    assert_int_equal(other, DRAIL_EJOB);
    for (unsigned r = 0; r < RANKS; r++)
        assert_string_equal(job[r].error.text,
                            "rank 1 has ended with status 3");
}

/* Rank 0 had its data; whether that is a failure is for rank 1 to say. */
static void ends_well(void **state)
{
    int other;
    assert_int_equal(late(0, &other), 0);
    assert_int_equal(other, 0);
}

static void *gather_less(void *arg)
{
    unsigned char byte = 0, all[RANKS];
    assert_int_equal(oob_allgather(&channel[0], &byte, 1, all, -1),
                     DRAIL_EINVAL);
    assert_int_equal(oob_end(&channel[0], 0), 0);
    return NULL;
}

/* They don't fit together, but rank and server go on. */
static void lengths(void **state)
{
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, gather_less, NULL), 0);
    assert_int_equal(gather(1, -1), DRAIL_EINVAL);
    assert_string_equal(job[1].error.text,
                        "the ranks' contributions differ in length");
    assert_int_equal(oob_end(&channel[1], 0), 0);
    pthread_join(other, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ends_badly, setup, teardown),
        cmocka_unit_test_setup_teardown(ends_well, setup, teardown),
        cmocka_unit_test_setup_teardown(lengths, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
