/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributed shared memory of simulated ranks: all in one process, each with
 * addresses of its own, and faults in which others run. */
#include "dsm_scene.h"
#include "simulated.h"

static int dsm_main(drail_job_t *job, void *arg)
{
    void (*const *run)(struct rank * r) = arg;
    struct rank r = {
        .job = job, .rank = drail_job_rank(job), .size = drail_job_size(job)};
    r.rng = r.rank + 1;
    (*run)(&r);
    return 0;
}

/* Others are served by a thread, which a simulated rank does not have. */
static void by_message(struct rank *r)
{
    ddsm_config_t cfg;
    ddsm_t *d = NULL;
    drail_error_t err = {0};
    ddsm_config_init(&cfg);
    cfg.bytes = 1 << 20;
    cfg.rails = space_rails;
    int rc = ddsm_open(r->job, &cfg, &d, &err);
    check(rc == DRAIL_ENOTSUP && err.code == rc && !d);
    check(strstr(err.text, "DRAIL_EXTENSIONS"));
}

static bool run(void (*scene)(struct rank *r), unsigned ppn)
{
    return simulate("two-rails", 4, ppn, dsm_main, &scene) == 0;
}

int main(int argc, char **argv)
{
    drail_config_t cfg;
    simulated_or_skip(argv);
    drail_config_init(&cfg);
    cfg.rails[0] = "sim:";
    cfg.nrails = 1;
    space_rails = &cfg;
    report(run(parts, 1), "parts of 4 nodes");
    report(run(bytes_of_one_page, 2), "bytes of one page, 2 nodes");
    report(run(locks, 1), "locks of 4 nodes");
    setenv("DRAIL_EXTENSIONS", "0", 1);
    report(run(by_message, 1), "refused without extensions");
    return reported();
}
