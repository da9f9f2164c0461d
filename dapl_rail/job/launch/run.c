/* SPDX-License-Identifier: BSD-3-Clause */
/* drail_job_run. The ranks are started by the platform, if it does so; or they
 * are simulated, launched, or forked, in this order. */
#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/launch/fork.h"
#include "dapl_rail/job/launch/launch.h"
#include "dapl_rail/job/simulate/simulate.h"

#define RANKS_FORKED 2u /* if the caller does not give a number */

int drail_job_run(const drail_job_config_t *given, drail_rank_main_t rank_main,
                  void *arg)
{
    drail_launch_t *own = NULL;
    if (!given)
        return DRAIL_EINVAL;
    if (!rank_main)
        return error_set(given->error, DRAIL_EINVAL,
                         "drail_job_run: no rank_main");
    drail_job_config_t cfg = *given;
    const struct drail_platform *p = cfg.platform;
    bool placed = p && p->run_ranks;
    int rc = job_config_check(&cfg);
    if (!rc && !placed && !cfg.simulate && !cfg.launch)
        rc = drail_launch_open(given, &own);
    if (rc)
        return rc;
    drail_launch_t *launch = own ? own : cfg.launch;
    bool launched = !placed && !cfg.simulate && !cfg.fork && launch->size;
    if (!launched && cfg.nranks == DRAIL_RANKS_AUTO)
        cfg.nranks = RANKS_FORKED;
    if (placed)
        rc = p->run_ranks(p, &cfg, rank_main, arg);
    else if (cfg.simulate)
        rc = simulate_ranks(&cfg, rank_main, arg);
    else if (launched)
        rc = launch_run(launch, &cfg, rank_main, arg);
    else
        rc = fork_ranks(&cfg, rank_main, arg);
    drail_launch_close(own);
    return rc;
}
