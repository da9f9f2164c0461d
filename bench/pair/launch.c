/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "launch.h"

int launch_job(const char *command, const options_t *opts, outcome_t *outcome,
               drail_rank_main_t rank_main, void *arg)
{
    drail_job_config_t cfg;
    drail_error_t err = {0};

    drail_job_config_init(&cfg);
    cfg.nranks = (unsigned)opts->ranks;
    cfg.ppn = (unsigned)opts->ppn;
    cfg.error = &err;
    int rc = drail_job_run(&cfg, rank_main, arg);
    if (!rc)
        return 0;
    if (rc == DRAIL_EINTR) {
        fprintf(stderr, "%s: interrupted; the result is partial\n", command);
        return 1;
    }
    const drail_error_t *cause = outcome_cause(outcome);
    const char *text = cause ? cause->text : err.text;
    if (!text[0])
        text = drail_strerror(cause ? cause->code : rc);
    if (cause && (cause->code == DRAIL_EOPEN || cause->code == DRAIL_ENORAIL)) {
        fprintf(stderr, "%s: --rails: %s; allowed: rails that railinfo lists\n",
                command, text);
        return 2;
    }
    fprintf(stderr, "%s: %s\n", command, text);
    return 1;
}
