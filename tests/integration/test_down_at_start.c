/* SPDX-License-Identifier: BSD-3-Clause */
/* Rails that are down when the ranks connect: the job begins over the others,
 * and a rail that comes up later is used. */
#include "failover.h"
#include "hello_said.h"
#include "rails_up.h"
#include "tests/cable.h"

#define RAILS 3u
#define SOON  10 /* seconds: not when the time to connect ends */

static const char *const names[RAILS] = {"shm0", "shm1", "shm2"};
static const char *folder;

/* Requests to connect over these rails are lost, and nobody is told. */
static _Atomic unsigned *lost_over; /* in memory that the ranks share */

/* So many requests, of this rank, go where nobody listens. */
static unsigned to_nobody;

static bool change_hello(DAT_EP_HANDLE ep, struct link_hello *hello,
                         DAT_CONN_QUAL *qual)
{
    if (!hello->kind && to_nobody && to_nobody--)
        *qual = 1;
    return !(*lost_over >> hello->rail & 1);
}

/* ------------------------------------------------------------- cables */

static cable_t cables[RAILS];

/* Grasps the cables of this process, or of the ranks. */
static void cables_grasp(unsigned down)
{
    for (unsigned i = 0; i < RAILS; i++) {
        check(!cable_grasp(&cables[i], folder, names[i]));
        if (down >> i & 1)
            check(!cable_pull(&cables[i]));
    }
}

static void cables_let_go(void)
{
    for (unsigned i = 0; i < RAILS; i++)
        cable_drop(&cables[i], folder, names[i]);
}

static void plug_all(void)
{
    for (unsigned i = 0; i < RAILS; i++)
        check(!cable_plug(&cables[i]));
}

/* --------------------------------------------------------------- tests */

static uint64_t bytes_over(const struct rank *r, unsigned rail)
{
    drail_rail_stats_t stats = rail_stats(r, rail);
    return stats.put_bytes - stats.carried_bytes;
}

static void connect_in_time(struct rank *r)
{
    double begin = seconds();
    expect(r, 0, drail_connect(r->t, r->peer));
    check(seconds() - begin < SOON);
}

static void talk(struct rank *r)
{
    struct script s;
    script_open(r, &s);
    script_run(r, &s, 0);
    script_run(r, &s, 1);
    script_close(r, &s);
}

static void uses_all(struct rank *r)
{
    struct memory m;
    uint64_t before[RAILS];
    memory_open(r, &m, 6u << 20);
    for (unsigned i = 0; i < RAILS; i++)
        before[i] = bytes_over(r, i);
    memory_put(r, &m, 6u << 20);
    for (unsigned i = 0; i < RAILS; i++)
        check(bytes_over(r, i) > before[i]);
    memory_close(r, &m);
}

/* These are down, and come up when the ranks have talked over the others. */
static void begins_without(struct rank *r, unsigned down)
{
    if (r->rank == 0)
        cables_grasp(down);
    barrier(r);
    connect_in_time(r);
    for (unsigned i = 0; i < RAILS; i++)
        check(is_up(r, i) == !(down >> i & 1));
    talk(r);
    if (r->rank == 0)
        plug_all();
    await_rails_up(r);
    uses_all(r);
    talk(r);
    barrier(r);
    if (r->rank == 0)
        cables_let_go();
}

static void first_down(struct rank *r)
{
    begins_without(r, 1);
}

static void middle_down(struct rank *r)
{
    begins_without(r, 2);
}

static void two_down(struct rank *r)
{
    begins_without(r, 5);
}

/* An error in time, not a wait; and they connect when there is a rail. */
static void all_down(struct rank *r)
{
    if (r->rank == 0)
        cables_grasp(7);
    barrier(r);
    double begin = seconds();
    int rc = drail_connect(r->t, r->peer);
    check(rc == DRAIL_EPEER || rc == DRAIL_ETIMEOUT);
    check(*drail_last_error(r->t));
    check(seconds() - begin < SOON);
    barrier(r);
    if (r->rank == 0)
        plug_all();
    barrier(r);
    connect_in_time(r);
    await_rails_up(r);
    talk(r);
    barrier(r);
    if (r->rank == 0)
        cables_let_go();
}

/* The cables of each rank are its own. */
static void down_here_only(struct rank *r, unsigned rank)
{
    cables_grasp(r->rank == rank ? 2 : 0);
    barrier(r);
    connect_in_time(r);
    check(!is_up(r, 1));
    talk(r);
    plug_all();
    await_rails_up(r);
    uses_all(r);
    talk(r);
    barrier(r);
    cables_let_go();
    check(!rmdir(folder));
}

static void down_in_rank_0(struct rank *r)
{
    down_here_only(r, 0);
}

static void down_in_rank_1(struct rank *r)
{
    down_here_only(r, 1);
}

/* The rank that asks for connections hears of it over another rail. */
static void asked_by_the_other(struct rank *r)
{
    if (r->rank == 0)
        cables_grasp(3);
    barrier(r);
    if (r->rank == 1)
        connect_in_time(r);
    else
        expect(r, 0, drail_notify_wait(r->t, 1, NULL, -1));
    if (r->rank == 1)
        expect(r, 0, drail_notify(r->t, 0, 0, 0));
    talk(r);
    if (r->rank == 0)
        cables_let_go();
}

/* Nobody is told that a rail is down. */
static void not_told(struct rank *r, unsigned lost)
{
    *lost_over = lost;
    barrier(r);
    connect_in_time(r);
    talk(r);
    check(!is_up(r, 1));
    barrier(r);
    *lost_over = 0;
    await_rails_up(r);
    uses_all(r);
    talk(r);
}

static void one_not_told(struct rank *r)
{
    not_told(r, 2);
}

static void two_not_told(struct rank *r)
{
    not_told(r, 3);
}

/* As where the peer's provider has no time for too long. */
static void nobody_at_first(struct rank *r)
{
    to_nobody = r->rank == 0 ? 2 * drail_nrails(r->t) : 0;
    barrier(r);
    connect_in_time(r);
    check(!to_nobody);
    await_rails_up(r);
    talk(r);
}

static void none_answers(struct rank *r)
{
    *lost_over = 7;
    barrier(r);
    expect(r, DRAIL_ETIMEOUT, drail_connect(r->t, r->peer));
    barrier(r);
    *lost_over = 0;
    barrier(r);
    connect_in_time(r);
    talk(r);
}

static void three(drail_config_t *cfg)
{
    take_rails(cfg, RAILS);
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
    cfg->connect_timeout_ms = 20000;
}

/* Where all of the time passes. */
static void impatient(drail_config_t *cfg)
{
    three(cfg);
    cfg->connect_timeout_ms = 3000;
}

static void one(drail_config_t *cfg)
{
    three(cfg);
    cfg->nrails = 1;
}

static void threaded(drail_config_t *cfg)
{
    three(cfg);
    cfg->engine = DRAIL_ENGINE_THREADED;
}

static void own_cables(drail_config_t *cfg)
{
    three(cfg);
    folder = cables_folder();
    check(folder);
}

static const struct test tests[] = {
    {"the first is down", 2, first_down, three, APART},
    {"one of the others is", 2, middle_down, three, APART},
    {"all but one are", 2, two_down, three, APART},
    {"threads", 2, middle_down, threaded, APART},
    {"none is up", 2, all_down, impatient, APART},
    {"down in rank 0 only", 2, down_in_rank_0, own_cables, APART},
    {"down in rank 1 only", 2, down_in_rank_1, own_cables, APART},
    {"the higher rank asks", 2, asked_by_the_other, three, APART},
    {"one does not answer", 2, one_not_told, three, APART},
    {"two do not", 2, two_not_told, three, APART},
    {"none does", 2, none_answers, impatient, APART},
    {"nobody listens at first", 2, nobody_at_first, three, APART},
    {"nobody listens at first, one rail", 2, nobody_at_first, one, APART},
};

int main(int argc, char **argv)
{
    folder = cables_folder();
    lost_over = shared_memory(sizeof *lost_over);
    check(folder);
    return run_tests(tests, sizeof tests / sizeof tests[0], 1, argc, argv);
}
