/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks of a launcher that end their launch long after one another: it waits,
 * and none is taken for one that has failed. Runs itself under mpirun. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dapl_rail/dapl_rail.h"

#define LATER_S 6 /* more than a fence of all that come together may take */

static int body(drail_job_t *job, void *arg)
{
    return drail_job_barrier(job, -1) != 0;
}

static int rank_main(void)
{
    drail_job_config_t cfg;
    drail_launch_t *launch = NULL;
    drail_error_t err = {0};
    drail_job_config_init(&cfg);
    cfg.error = &err;
    int rc = drail_launch_open(&cfg, &launch);
    cfg.launch = launch;
    if (!rc)
        rc = drail_job_run(&cfg, body, NULL);
    if (rc)
        printf("# %s\n", err.text);
    else if (drail_launch_rank(launch) == 0)
        sleep(LATER_S);
    drail_launch_close(launch);
    return rc != 0;
}

int main(int argc, char **argv)
{
    int status = -1;
    if (argc > 1)
        return rank_main();
    if (system("command -v mpirun.openmpi >/dev/null")) {
        printf("ok 1 - no mpirun here: skipped\n1..1\n");
        return 0;
    }
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        execlp("timeout", "timeout", "-k", "5", "60", "mpirun.openmpi",
               "--allow-run-as-root", "--oversubscribe", "-n", "2", argv[0],
               "rank", (char *)NULL);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    printf("%s 1 - rank 0 closes later\n1..1\n", status ? "not ok" : "ok");
    return status != 0;
}
