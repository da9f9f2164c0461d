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

static bool run(void (*scene)(struct rank *r), unsigned ppn)
{
    return simulate("two-rails", 4, ppn, dsm_main, &scene) == 0;
}

int main(int argc, char **argv)
{
    drail_config_t cfg;
    (void)argc;
    simulated_or_skip(argv);
    drail_config_init(&cfg);
    cfg.rails[0] = "sim:";
    cfg.nrails = 1;
    space_rails = &cfg;
    report(run(parts, 1), "parts of 4 nodes");
    report(run(bytes_of_one_page, 2), "bytes of one page, 2 nodes");
    report(run(locks, 1), "locks of 4 nodes");
    return reported();
}
