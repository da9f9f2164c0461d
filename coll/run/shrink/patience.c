/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/run/shrink/patience.h"

#define SPIN_NS  2000000u
#define SLEEP_NS 50000u

void patience_begin(struct patience *p, drail_job_t *job,
                    const dcoll_config_t *cfg, struct deadline *deadline)
{
    *p = (struct patience){.job = job, .cfg = cfg, .deadline = deadline};
    spin_init(&p->spin, drail_job_platform(job), SPIN_YIELD_NS, SPIN_NS);
    spin_begin(&p->spin);
}

int patience_turn(struct patience *p)
{
    const struct drail_platform *platform = p->spin.platform;
    if (p->cfg->idle)
        p->cfg->idle(p->cfg->idle_context);
    if (drail_job_interrupted(p->job))
        return DRAIL_EINTR;
    deadline_turn(p->deadline, platform_now(platform));
    if (!deadline_left(p->deadline))
        return DRAIL_ETIMEOUT;
    if (!spin_more(&p->spin))
        platform_sleep(platform, SLEEP_NS);
    return 0;
}
