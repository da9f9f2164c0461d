/* SPDX-License-Identifier: BSD-3-Clause */
/* Rails that can't be had, and what the registry and rails say. */
#include "conf.h"
#include "ranks.h"

#define SOON 15 /* seconds: not when the default timeout of 30 ends */

static int failures;
static unsigned number;

static void report(bool ok, const char *name, const char *detail)
{
    printf("%s %u - %s # %s\n", ok ? "ok" : "not ok", ++number, name, detail);
    fflush(stdout);
    failures += !ok;
}

/* --------------------------------------------------------------- opening */

struct opening {
    const char *name;
    void (*configure)(drail_config_t *cfg, unsigned rank);
    int code;         /* of drail_open in rank 0 */
    const char *text; /* part of its sentence */
    int other;        /* code in rank 1 */
};

static int open_main(drail_job_t *job, void *arg)
{
    const struct opening *o = arg;
    unsigned rank = drail_job_rank(job);
    int want = rank ? o->other : o->code;
    drail_config_t cfg;
    drail_error_t err = {0};
    drail_t *t = NULL;
    drail_config_init(&cfg);
    o->configure(&cfg, rank);
    double begin = seconds();
    int rc = drail_open(job, &cfg, &t, &err);
    if (rc != want || (rc && err.code != rc) || (rc && t) ||
        (rank == 0 && !strstr(err.text, o->text)) || seconds() - begin > SOON) {
        printf("# rank %u: %d (%s) after %.1f s: %s\n", rank, rc,
               drail_strerror(rc), seconds() - begin, err.text);
        return 1;
    }
    drail_job_barrier(job, 1000);
    drail_close(t);
    return 0;
}

static void unknown(drail_config_t *cfg, unsigned rank)
{
    cfg->rails[1] = "nosuch7";
}

static void unknown_in_one(drail_config_t *cfg, unsigned rank)
{
    if (rank == 0)
        cfg->rails[1] = "nosuch7";
}

static void twice(drail_config_t *cfg, unsigned rank)
{
    cfg->rails[1] = "shm0";
}

static void different(drail_config_t *cfg, unsigned rank)
{
    cfg->rails[1] = rank ? "shm1" : "apart0";
}

static void fewer(drail_config_t *cfg, unsigned rank)
{
    cfg->nrails = rank ? 2 : 1;
}

static void none(drail_config_t *cfg, unsigned rank)
{
    cfg->nrails = 0;
}

static void no_library(drail_config_t *cfg, unsigned rank)
{
    cfg->rails[1] = "broken0";
}

static void no_such_fixed(drail_config_t *cfg, unsigned rank)
{
    cfg->fixed_rail = 2;
}

static void bad_depth(drail_config_t *cfg, unsigned rank)
{
    cfg->depth = 3;
}

static void bad_environment(drail_config_t *cfg, unsigned rank)
{
    setenv("DRAIL_POLICY", "fair", 1);
}

static void bad_in_one(drail_config_t *cfg, unsigned rank)
{
    cfg->depth = rank ? 3 : 64;
}

static const struct opening openings[] = {
    {"unknown rail", unknown, DRAIL_ENORAIL, "nosuch7", DRAIL_EPEER},
    {"unknown rail in one rank", unknown_in_one, DRAIL_ENORAIL, "nosuch7",
     DRAIL_EPEER},
    {"rail listed twice", twice, DRAIL_EINVAL, "shm0 is listed twice",
     DRAIL_EINVAL},
    {"different rails", different, DRAIL_EINVAL,
     "rail apart0 (fabric shm:apart) of rank 0 has no counterpart among the "
     "rails of rank 1: shm0 (shm), shm1 (shm)",
     DRAIL_EINVAL},
    {"fewer rails", fewer, DRAIL_EINVAL,
     "rail shm1 (fabric shm) of rank 1 has no counterpart among the rails of "
     "rank 0: shm0 (shm)",
     DRAIL_EINVAL},
    {"malformed in one rank", bad_in_one, DRAIL_EPEER, "rank 1 has no rails",
     DRAIL_EINVAL},
    {"no rails", none, DRAIL_EINVAL, "1 to 16", DRAIL_EINVAL},
    {"missing provider library", no_library, DRAIL_EOPEN, "broken0",
     DRAIL_EPEER},
    {"fixed rail out of range", no_such_fixed, DRAIL_EINVAL, "2 rails",
     DRAIL_EINVAL},
    {"depth out of range", bad_depth, DRAIL_EINVAL, "depth 3", DRAIL_EINVAL},
    {"malformed environment", bad_environment, DRAIL_EINVAL,
     "DRAIL_POLICY=fair", DRAIL_EINVAL},
};

/* ------------------------------------------------------------ the registry */

static bool listed(const char *name)
{
    char names[256][DRAIL_NAME_MAX];
    unsigned n = 0;
    if (drail_rails_list(names, 256, &n) || n > 256)
        return false;
    for (unsigned i = 0; i < n; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

static void registry(void)
{
    unsigned n = 0;
    drail_rail_info_t info;
    drail_error_t err = {0};
    report(listed("shm0") && listed("shm1") && !listed("nosuch7"),
           "the registry lists the embedded rails", "");
    report(drail_rails_list(NULL, 0, &n) == 0 && n >= 4,
           "the number alone can be asked for", "");
    int rc = drail_rail_query("shm1", &info, &err);
    report(rc == 0 && !strcmp(info.name, "shm1") && info.provider[0] &&
               info.fabric[0] && info.max_dto >= 64 &&
               info.max_private_data >= 32 && info.dapl_major == 2,
           "a rail describes itself", err.text);
    report(drail_rail_query("nosuch7", &info, &err) == DRAIL_ENORAIL &&
               strstr(err.text, "nosuch7"),
           "query of an unknown rail", err.text);
    report(listed("broken0") &&
               drail_rail_query("broken0", &info, &err) == DRAIL_EOPEN &&
               strstr(err.text, "library"),
           "query of a rail without library", err.text);
}

int main(int argc, char **argv)
{
    conf_restart(
        argv,
        RAIL("apart0",
             "fabric=apart") "this line is not one of dat.conf\n"
                             "broken0 u2.0 nonthreadsafe default "
                             "/nonexistent/lib.so dapl_rail.0.1 \"\" \"\"\n");
    registry();
    for (size_t i = 0; i < sizeof openings / sizeof openings[0]; i++) {
        drail_error_t err = {0};
        drail_job_config_t cfg;
        drail_job_config_init(&cfg);
        cfg.error = &err;
        int rc =
            drail_job_run(&cfg, open_main, (void *)(uintptr_t)&openings[i]);
        report(rc == 0, openings[i].name, err.text);
    }
    printf("1..%u\n", number);
    return failures != 0;
}
