/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program asks for and sets: omp.h. Each function has its name of
 * Fortran (omp_lib), with an underscore; there arguments come by reference, and
 * integers of 8 bytes have functions of their own. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "omp/runtime/memory.h"
#include "omp/runtime/team.h"

#include "omp/runtime/interface.h"

/* An integer function without arguments. */
#define ASK(name, value)                                                       \
    int omp_##name(void)                                                       \
    {                                                                          \
        return (int)(value);                                                   \
    }                                                                          \
    int32_t omp_##name##_(void)                                                \
    {                                                                          \
        return omp_##name();                                                   \
    }
/* ... with one, @x. */
#define ASK_OF(name, value)                                                    \
    int omp_##name(int x)                                                      \
    {                                                                          \
        return (int)(value);                                                   \
    }                                                                          \
    int32_t omp_##name##_(const int32_t *x)                                    \
    {                                                                          \
        return omp_##name(*x);                                                 \
    }                                                                          \
    int32_t omp_##name##_8_(const int64_t *x)                                  \
    {                                                                          \
        return omp_##name((int)*x);                                            \
    }
/* A setter of @x. */
#define SET(name, statement)                                                   \
    void omp_##name(int x)                                                     \
    {                                                                          \
        statement;                                                             \
    }                                                                          \
    void omp_##name##_(const int32_t *x)                                       \
    {                                                                          \
        omp_##name(*x);                                                        \
    }                                                                          \
    void omp_##name##_8_(const int64_t *x)                                     \
    {                                                                          \
        omp_##name((int)*x);                                                   \
    }

static int clamped(int x, int least, int most)
{
    return x < least ? least : x > most ? most : x;
}

/* The task of @level that this thread's is nested in; NULL: no such level. */
static const struct thread *ancestor(int level)
{
    const struct thread *t = self();
    if (level < 0 || (unsigned)level > t->team->level)
        return NULL;
    while ((int)t->team->level > level)
        t = t->team->parent;
    return t;
}

ASK(get_thread_num, self()->id)
ASK(get_num_threads, self()->team->threads)
ASK(get_max_threads, self()->icv.threads)
ASK(get_num_procs, processors())
ASK(get_thread_limit, team_limit())
ASK(in_parallel, self()->team->active > 0)
ASK(get_level, self()->team->level)
ASK(get_active_level, self()->team->active)
ASK(get_dynamic, self()->icv.dynamic)
ASK(get_nested, 0)
ASK(get_max_active_levels, self()->icv.levels)
ASK(get_supported_active_levels, 1)
ASK(in_final, self()->in_final)
ASK(get_cancellation, 0)
ASK(get_max_task_priority, 0)
ASK(get_num_teams, shared_words->league.teams ? shared_words->league.teams : 1)
ASK(get_team_num, shared_words->league.team)
ASK(get_max_teams, 1)
ASK(get_teams_thread_limit, settings.limit)
ASK(get_proc_bind, 0)
ASK(get_num_places, 0)
ASK(get_place_num, -1)
ASK(get_partition_num_places, 0)
ASK(get_num_devices, 0)
ASK(get_default_device, 0)
ASK(get_initial_device, 0)
ASK(get_device_num, 0)
ASK(is_initial_device, 1)
ASK_OF(get_ancestor_thread_num, ancestor(x) ? (int)ancestor(x)->id : -1)
ASK_OF(get_team_size, ancestor(x) ? (int)ancestor(x)->team->threads : -1)
ASK_OF(get_place_num_procs, ((void)x, 0))
ASK_OF(pause_resource_all, ((void)x, 0))

SET(set_num_threads, self()->icv.threads = (uint32_t)clamped(x, 1, INT_MAX))
SET(set_dynamic, self()->icv.dynamic = x != 0)
SET(set_nested, (void)x)
SET(set_max_active_levels, self()->icv.levels = (uint8_t)clamped(x, 0, 1))
SET(set_num_teams, (void)x)
SET(set_teams_thread_limit, (void)x)
SET(set_default_device, (void)x)

int omp_pause_resource(int kind, int device)
{
    (void)kind, (void)device;
    return 0;
}

int32_t omp_pause_resource_(const int32_t *kind, const int32_t *device)
{
    return omp_pause_resource(*kind, *device);
}

/* There are no places. */
void omp_get_place_proc_ids(int place, int *ids)
{
    (void)place, (void)ids;
}

void omp_get_place_proc_ids_(const int32_t *place, int32_t *ids)
{
    (void)place, (void)ids;
}

void omp_get_place_proc_ids_8_(const int64_t *place, int64_t *ids)
{
    (void)place, (void)ids;
}

void omp_get_partition_place_nums(int *places)
{
    (void)places;
}

void omp_get_partition_place_nums_(int32_t *places)
{
    (void)places;
}

void omp_get_partition_place_nums_8_(int64_t *places)
{
    (void)places;
}

void omp_set_schedule(unsigned kind, int chunk)
{
    const unsigned plain = kind & ~SCHEDULE_MONOTONIC;
    if (plain >= SCHEDULE_STATIC && plain <= SCHEDULE_AUTO)
        icv_schedule(&self()->icv, kind, chunk);
}

void omp_set_schedule_(const int32_t *kind, const int32_t *chunk)
{
    omp_set_schedule((unsigned)*kind, *chunk);
}

void omp_set_schedule_8_(const int32_t *kind, const int64_t *chunk)
{
    omp_set_schedule((unsigned)*kind, (int)*chunk);
}

void omp_get_schedule(unsigned *kind, int *chunk)
{
    *kind = self()->icv.schedule;
    *chunk = self()->icv.chunk;
}

void omp_get_schedule_(int32_t *kind, int32_t *chunk)
{
    omp_get_schedule((unsigned *)kind, chunk);
}

void omp_get_schedule_8_(int32_t *kind, int64_t *chunk)
{
    int plain;
    omp_get_schedule((unsigned *)kind, &plain);
    *chunk = plain;
}

double omp_get_wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double omp_get_wtime_(void)
{
    return omp_get_wtime();
}

double omp_get_wtick(void)
{
    struct timespec tick;
    clock_getres(CLOCK_MONOTONIC, &tick);
    return (double)tick.tv_sec + (double)tick.tv_nsec * 1e-9;
}

double omp_get_wtick_(void)
{
    return omp_get_wtick();
}

/* What settings_read() has read, on standard error. */
void omp_display_env(int is_verbose)
{
    static const char *const kinds[] = {"DYNAMIC", "STATIC", "DYNAMIC",
                                        "GUIDED", "AUTO"};
    const struct icv *icv = &settings.first;
    (void)is_verbose;
    fprintf(stderr,
            "\nOPENMP DISPLAY ENVIRONMENT BEGIN\n"
            "  _OPENMP = '201511'\n"
            "  OMP_DYNAMIC = '%s'\n"
            "  OMP_NUM_THREADS = '%u'\n"
            "  OMP_SCHEDULE = '%s",
            icv->dynamic ? "TRUE" : "FALSE", settings.threads,
            kinds[icv->schedule & ~SCHEDULE_MONOTONIC]);
    fprintf(stderr, icv->chunk ? ",%d'\n" : "'\n", icv->chunk);
    fprintf(stderr,
            "  OMP_STACKSIZE = '%zu'\n"
            "  OMP_WAIT_POLICY = '%s'\n"
            "  OMP_THREAD_LIMIT = '%u'\n"
            "  OMP_MAX_ACTIVE_LEVELS = '%u'\n"
            "  OMP_CANCELLATION = 'FALSE'\n"
            "OPENMP DISPLAY ENVIRONMENT END\n",
            settings.stack, settings.passive ? "PASSIVE" : "ACTIVE",
            settings.limit, (unsigned)icv->levels);
}

void omp_display_env_(const int32_t *is_verbose)
{
    omp_display_env(*is_verbose);
}

void omp_display_env_8_(const int64_t *is_verbose)
{
    omp_display_env(*is_verbose != 0);
}

/* the directive error */
void GOMP_warning(const char *text, size_t length)
{
    if (length == SIZE_MAX)
        fprintf(stderr, "\nrailomp: error directive encountered: %s\n", text);
    else
        fprintf(stderr, "\nrailomp: error directive encountered: %.*s\n",
                (int)length, text);
}

__attribute__((noreturn)) void GOMP_error(const char *text, size_t length)
{
    GOMP_warning(text, length);
    exit(1);
}
