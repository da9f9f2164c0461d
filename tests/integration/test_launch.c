/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs whose ranks somebody else has started: they meet at a rendezvous. */
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dapl_rail/dapl_rail.h"

#define MOST    6
#define PATIENT 30 /* seconds */
#define SECRET  "a secret of sixteen characters"

static int failures;

#define check(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            printf("# %s:%d: %s\n", __FILE__, __LINE__, #condition);           \
            failures++;                                                        \
        }                                                                      \
    } while (0)

/* How one process comes to the rendezvous, and what becomes of it. */
struct place {
    unsigned rank, size;
    const char *secret;
    drail_rank_main_t body;
    pid_t pid;
    int code;
    drail_error_t error;
    int gather;     /* of an all-gather in rank_main */
    char why[256];  /* the job's error */
    int interrupts; /* waits that ended */
    volatile int begun;
};

static struct place *places; /* shared with the processes */
static char where[64];
static int connect_ms;

/* Nobody listens there. */
static void choose_port(int family)
{
    struct sockaddr_in6 a = {.sin6_family = (sa_family_t)family};
    socklen_t bytes = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof a;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (family == AF_INET6)
        a.sin6_addr = in6addr_loopback;
    *where = '\0';
    if (fd >= 0 && !bind(fd, (struct sockaddr *)&a, bytes) &&
        !getsockname(fd, (struct sockaddr *)&a, &bytes))
        snprintf(where, sizeof where, "%s:%u",
                 family == AF_INET ? "127.0.0.1" : "[::1]", ntohs(a.sin6_port));
    close(fd);
}

static void come(struct place *p)
{
    drail_job_config_t cfg;
    alarm(PATIENT);
    setenv("DRAIL_SECRET", p->secret, 1);
    drail_job_config_init(&cfg);
    cfg.nranks = p->size;
    cfg.rank = p->rank;
    cfg.rendezvous = where;
    cfg.connect_ms = connect_ms;
    cfg.grace_ms = 300;
    cfg.error = &p->error;
    p->code = drail_job_run(&cfg, p->body, p);
    exit(0);
}

static void start_one(unsigned i)
{
    fflush(NULL);
    pid_t pid = fork();
    if (!pid)
        come(&places[i]);
    places[i].pid = pid;
}

/* Starts a process for each place, which keeps its result. */
static void start(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        start_one(i);
}

static void await(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        int status;
        waitpid(places[i].pid, &status, 0);
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
            printf("# place %u hangs\n", i);
        check(!WIFSIGNALED(status) || WTERMSIG(status) != SIGALRM);
    }
}

/* n ranks of n, alike. */
static void prepare(unsigned n, drail_rank_main_t body)
{
    memset(places, 0, MOST * sizeof *places);
    for (unsigned i = 0; i < n; i++)
        places[i] = (struct place){
            .rank = i, .size = n, .secret = SECRET, .body = body, .code = 1};
    connect_ms = 10000;
    choose_port(AF_INET);
}

static void expect(unsigned i, int code, const char *text)
{
    if (places[i].code != code || !strstr(places[i].error.text, text))
        printf("# place %u: %d (%s), not %d (…%s…)\n", i, places[i].code,
               places[i].error.text, code, text);
    check(places[i].code == code);
    check(strstr(places[i].error.text, text));
}

static bool await_value(volatile int *value)
{
    for (int i = 0; i < PATIENT * 100 && !*value; i++)
        usleep(10000);
    return *value;
}

/* ------------------------------------------------------------- they meet */

static int gather(drail_job_t *job, void *arg)
{
    struct place *p = arg;
    unsigned rank = drail_job_rank(job), size = drail_job_size(job);
    bool right = rank == p->rank && size == p->size;
    for (size_t bytes = 1; right && bytes <= 65536; bytes *= 4) {
        unsigned char *own = malloc(bytes), *all = malloc(bytes * size);
        memset(own, (int)(rank + bytes % 7), bytes);
        right = !drail_job_allgather(job, own, bytes, all, -1);
        for (size_t i = 0; right && i < bytes * size; i++)
            right = all[i] == i / bytes + bytes % 7;
        free(own);
        free(all);
    }
    for (unsigned r = 0; right && r < size; r++)
        right = drail_job_node(job, r) == 0;
    return !right;
}

static void meet(void)
{
    for (unsigned n = 1; n <= 4; n++) {
        prepare(n, gather);
        start(n);
        await(n);
        for (unsigned i = 0; i < n; i++)
            expect(i, 0, "");
    }
}

static void meet_over_ipv6(void)
{
    prepare(2, gather);
    choose_port(AF_INET6);
    if (!*where) {
        printf("# no IPv6 here\n");
        return;
    }
    start(2);
    await(2);
    expect(0, 0, "");
    expect(1, 0, "");
}

/* Rank 0 comes last, when the others have tried for a while. */
static void meet_late(void)
{
    prepare(3, gather);
    for (unsigned i = 3; i-- > 0;) {
        start_one(i);
        usleep(100000);
    }
    await(3);
    for (unsigned i = 0; i < 3; i++)
        expect(i, 0, "");
}

static int transport(drail_job_t *job, void *arg)
{
    drail_config_t config;
    drail_error_t err = {0};
    drail_t *rail = NULL;
    uint32_t id = 0;
    unsigned peer = 1 - drail_job_rank(job);
    drail_config_init(&config);
    int rc = drail_open(job, &config, &rail, &err);
    if (!rc)
        rc = drail_connect(rail, peer);
    if (!rc)
        rc = drail_notify(rail, peer, 0, 7);
    if (!rc)
        rc = drail_notify_wait(rail, peer, &id, -1);
    if (!rc)
        rc = drail_job_barrier(job, -1);
    if (rc)
        printf("# %s %s\n", err.text, rail ? drail_last_error(rail) : "");
    drail_close(rail);
    return rc || id != 7;
}

static void use_rails(void)
{
    prepare(2, transport);
    start(2);
    await(2);
    expect(0, 0, "");
    expect(1, 0, "");
}

/* ------------------------------------------------------ who does not fit */

static void missing(void)
{
    prepare(4, gather);
    connect_ms = 600;
    start(2);
    await(2);
    expect(0, DRAIL_ETIMEOUT, "ranks 2, 3 of 4 have not come");
    expect(1, DRAIL_ETIMEOUT, "rank 2 has not come");
}

static void without_root(void)
{
    prepare(2, gather);
    connect_ms = 400;
    places[0] = places[1];
    start(1);
    await(1);
    expect(0, DRAIL_ETIMEOUT, "does not reach rank 0 in time: 127.0.0.1:");
}

static void other_secret(void)
{
    prepare(3, gather);
    connect_ms = 1000;
    places[1].secret = "another secret, of another job";
    start(3);
    await(3);
    expect(0, DRAIL_ETIMEOUT, "rank 1 of 3 has not come in time");
    expect(0, DRAIL_ETIMEOUT, "has another secret");
    expect(1, DRAIL_EACCESS, "another secret");
    expect(2, DRAIL_ETIMEOUT, "rank 1 has not come");
}

static void no_secret(void)
{
    prepare(2, gather);
    places[0].secret = "short";
    start(1);
    await(1);
    expect(0, DRAIL_EINVAL, "16 to 256 characters");
}

static void twice(void)
{
    prepare(3, gather);
    places[2].rank = 1;
    start(3);
    await(3);
    expect(0, DRAIL_EINVAL, "rank 1 has come twice");
    expect(1, DRAIL_EINVAL, "");
    expect(2, DRAIL_EINVAL, "");
}

static void other_size(void)
{
    prepare(3, gather);
    places[2].size = 4;
    start(3);
    await(3);
    expect(0, DRAIL_EINVAL, "is of a job of 4 ranks, rank 0 of one of 3");
    expect(2, DRAIL_EINVAL, "another number of ranks (3 ranks");
    check(places[1].code && places[1].code != 1);
}

static void wrong_places(void)
{
    prepare(2, gather);
    places[0].rank = 2;
    start(1);
    await(1);
    expect(0, DRAIL_EINVAL, "rank 2 of 2");
    const char *const wrong[] = {"localhost",       ":7777",   "localhost:0",
                                 "localhost:70000", "::1:777", "[::1]777",
                                 "localhost:12x"};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        prepare(2, gather);
        snprintf(where, sizeof where, "%s", wrong[i]);
        start(1);
        await(1);
        expect(0, DRAIL_EINVAL, "allowed: host:port or [IPv6 address]:port");
    }
}

/* ------------------------------------------------------- how it ends */

static int last_words(drail_job_t *job, void *arg)
{
    struct place *p = arg;
    if (drail_job_barrier(job, -1))
        return 1;
    if (p->rank == p->size - 1)
        _exit(9);
    p->gather = drail_job_barrier(job, -1);
    snprintf(p->why, sizeof p->why, "%s", drail_job_last_error(job));
    return 1;
}

static void rank_dies(void)
{
    prepare(3, last_words);
    start(3);
    await(3);
    for (unsigned i = 0; i < 2; i++) {
        check(places[i].gather == DRAIL_EPEER);
        check(strstr(places[i].why, "rank 2 is gone"));
        expect(i, DRAIL_EJOB, "rank 2 is gone");
    }
}

static int root_dies(drail_job_t *job, void *arg)
{
    struct place *p = arg;
    if (drail_job_barrier(job, -1))
        return 1;
    char all[3 * 16] = {0};
    if (drail_job_allgather(job, all, p->rank ? 8 : 16, all, -1) !=
        DRAIL_EINVAL) /* its sentence is not that of the end */
        return 1;
    p->begun = 1;
    for (unsigned i = 1; p->rank == 0 && i < p->size; i++)
        await_value(&places[i].begun); /* it has the whole reply */
    if (p->rank == 0)
        _exit(9);
    p->gather = drail_job_barrier(job, -1);
    return 0;
}

static void rank_0_dies(void)
{
    prepare(3, root_dies);
    start(3);
    await(3);
    for (unsigned i = 1; i < 3; i++) {
        check(places[i].gather == DRAIL_EPEER ||
              places[i].gather == DRAIL_EINTR);
        expect(i, DRAIL_EPEER, "rank 0 or its host is gone");
    }
}

static int status_main(drail_job_t *job, void *arg)
{
    return drail_job_rank(job) == 1 ? 3 : 0;
}

static void rank_fails(void)
{
    prepare(3, status_main);
    start(3);
    await(3);
    for (unsigned i = 0; i < 3; i++)
        expect(i, DRAIL_EJOB, "rank 1 has ended with status 3");
}

static int wait_main(drail_job_t *job, void *arg)
{
    struct place *p = arg;
    p->begun = 1;
    if (p->rank == 1 && p->size == 3)
        return 3;
    while (!drail_job_interrupted(job))
        usleep(1000);
    p->interrupts = drail_job_barrier(job, -1) == DRAIL_EINTR;
    return 1;
}

/* The others are somewhere else than in an all-gather. */
static void others_are_stopped(void)
{
    prepare(3, wait_main);
    start(3);
    await(3);
    for (unsigned i = 0; i < 3; i++)
        expect(i, DRAIL_EJOB, "rank 1 has ended with status 3");
    check(places[0].interrupts && places[2].interrupts);
}

static void signal_to(unsigned rank, int other, const char *text)
{
    prepare(2, wait_main);
    start(2);
    check(await_value(&places[0].begun) && await_value(&places[1].begun));
    kill(places[rank].pid, SIGTERM);
    await(2);
    expect(rank, DRAIL_EINTR, "interrupted by a signal");
    expect(1 - rank, other, text);
}

static void signals(void)
{
    signal_to(0, DRAIL_EINTR, "rank 0 has been interrupted");
    signal_to(1, DRAIL_EINTR, "rank 1 has been interrupted");
}

/* --------------------------------------------------- several jobs in turn */

static int nodes_main(drail_job_t *job, void *arg)
{
    return drail_job_nodes(job) == *(unsigned *)arg ? 0 : 1;
}

static void jobs_in_turn(drail_launch_t *launch, struct place *p)
{
    drail_job_config_t cfg;
    unsigned nodes[] = {1, 2, 3}, ppn[] = {0, 2, 1};
    drail_job_config_init(&cfg);
    cfg.launch = launch;
    cfg.error = &p->error;
    for (unsigned i = 0; !p->code && i < 3; i++) {
        cfg.ppn = ppn[i];
        p->code = drail_job_run(&cfg, nodes_main, &nodes[i]);
    }
    if (p->code)
        return;
    /* ranks that differ in the nodes are told, and the next job is refused */
    cfg.ppn = 1 + drail_launch_rank(launch);
    p->gather = drail_job_run(&cfg, nodes_main, nodes);
    cfg.nranks = 5;
    p->interrupts = drail_job_run(&cfg, nodes_main, nodes);
}

static void come_once(struct place *p)
{
    drail_job_config_t cfg;
    drail_launch_t *launch = NULL;
    char rank[8];
    alarm(PATIENT);
    snprintf(rank, sizeof rank, "%u", p->rank);
    setenv("DRAIL_RANK", rank, 1);
    setenv("DRAIL_RANKS", "3", 1);
    setenv("DRAIL_RENDEZVOUS", where, 1);
    setenv("DRAIL_SECRET", SECRET, 1);
    drail_job_config_init(&cfg);
    cfg.error = &p->error;
    p->code = drail_launch_open(&cfg, &launch);
    if (!p->code &&
        (drail_launch_rank(launch) != p->rank ||
         drail_launch_size(launch) != 3 || drail_launch_host(launch, 2) != 0))
        p->code = 1;
    if (!p->code)
        jobs_in_turn(launch, p);
    drail_launch_close(launch);
    exit(0);
}

static void launch_once(void)
{
    prepare(3, NULL);
    for (unsigned i = 0; i < 3; i++) {
        fflush(NULL);
        pid_t pid = fork();
        if (!pid)
            come_once(&places[i]);
        places[i].pid = pid;
    }
    await(3);
    for (unsigned i = 0; i < 3; i++) {
        check(places[i].code == 0);
        check(places[i].gather == DRAIL_EINVAL);
        expect(i, 0, "5 ranks are asked for, and 3 were launched");
        check(places[i].interrupts == DRAIL_EINVAL);
    }
}

/* --------------------------------------------------------- secrets in files */

static void secret_file(mode_t mode, int code, const char *text)
{
    char path[] = "/tmp/test_launch.XXXXXX";
    int fd = mkstemp(path);
    drail_job_config_t cfg;
    drail_error_t err = {0};
    check(write(fd, SECRET "\nmore\n", sizeof SECRET + 5) > 0);
    fchmod(fd, mode);
    drail_job_config_init(&cfg);
    cfg.nranks = 1;
    cfg.rank = 0;
    cfg.rendezvous = where;
    cfg.secret_file = path;
    cfg.error = &err;
    struct place p = {.rank = 0, .size = 1};
    int rc = drail_job_run(&cfg, gather, &p);
    if (rc != code || !strstr(err.text, text))
        printf("# mode %o: %d (%s)\n", mode, rc, err.text);
    check(rc == code && strstr(err.text, text));
    close(fd);
    unlink(path);
}

static void secret_files(void)
{
    choose_port(AF_INET);
    secret_file(0600, 0, "");
    secret_file(0640, DRAIL_EINVAL, "must be private");
    secret_file(0604, DRAIL_EINVAL, "must be private");
}

int main(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {
        {"ranks meet", meet},
        {"over IPv6", meet_over_ipv6},
        {"rank 0 comes last", meet_late},
        {"rails", use_rails},
        {"ranks are missing", missing},
        {"rank 0 is missing", without_root},
        {"another secret", other_secret},
        {"no good secret", no_secret},
        {"secrets in files", secret_files},
        {"a rank comes twice", twice},
        {"another number of ranks", other_size},
        {"no such place", wrong_places},
        {"a rank dies", rank_dies},
        {"rank 0 dies", rank_0_dies},
        {"a rank fails", rank_fails},
        {"the others are stopped", others_are_stopped},
        {"signals", signals},
        {"several jobs of one launch", launch_once},
    };
    places = mmap(NULL, MOST * sizeof *places, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int failed = 0;
    for (unsigned i = 0; i < sizeof tests / sizeof *tests; i++) {
        failures = 0;
        tests[i].run();
        printf("%s - %s\n", failures ? "NOT OK" : "ok", tests[i].name);
        failed += failures > 0;
    }
    return failed > 0;
}
