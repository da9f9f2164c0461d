/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "cores.h"
#include "team.h"

typedef struct member {
    team_t *team;
    unsigned index;
    int cpu;
    pthread_t thread;
} member_t;

static void *member_main(void *arg)
{
    member_t *member = arg;
    cores_pin(member->cpu);
    member->team->work(member->team, member->index, member->team->arg);
    return NULL;
}

/* Spins, because a sleeper would start tens of microseconds late. */
void team_start(team_t *team)
{
    atomic_fetch_add(&team->ready, 1);
    while (atomic_load(&team->ready) < team->size &&
           !atomic_load(&team->broken))
        sched_yield();
}

int team_run(team_t *team, unsigned size, const int *cpus)
{
    member_t *members = calloc(size, sizeof *members);
    unsigned made = 0;
    int rc = members ? 0 : ENOMEM;

    team->size = size;
    atomic_init(&team->ready, 0);
    atomic_init(&team->broken, false);
    while (!rc && made < size) {
        member_t *member = &members[made];
        *member = (member_t){.team = team, .index = made, .cpu = cpus[made]};
        rc = pthread_create(&member->thread, NULL, member_main, member);
        made += !rc;
    }
    atomic_store(&team->broken, rc != 0);
    while (made)
        pthread_join(members[--made].thread, NULL);
    free(members);
    return rc;
}
