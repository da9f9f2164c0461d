/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks are what the platform takes them for: processes, if nothing else. */
#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/job.h"

int drail_job_run(const drail_job_config_t *cfg, drail_rank_main_t rank_main,
                  void *arg)
{
    if (!cfg || !rank_main)
        return DRAIL_EINVAL;
    if (cfg->nranks < 1 || cfg->nranks > MAX_RANKS || cfg->grace_ms < 0)
        return error_set(cfg->error, DRAIL_EINVAL,
                         "%u ranks, grace %d ms: allowed are 1 to %u ranks and "
                         "a grace of 0 or more",
                         cfg->nranks, cfg->grace_ms, MAX_RANKS);
    const struct drail_platform *p = cfg->platform;
    if (p && p->run_ranks)
        return p->run_ranks(p, cfg, rank_main, arg);
    return fork_ranks(cfg, rank_main, arg);
}
