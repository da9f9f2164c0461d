/* SPDX-License-Identifier: BSD-3-Clause */
/* DCOLL_MPI, and what is set up once before the first call. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/below/below.h"
#include "mpi/comm/comm.h"

static const struct {
    const char *name;
    bool *set; /* NULL: the default */
} words[] = {
    {"on", NULL},
    {"off", &layer.off},
    {"always", &layer.always},
    {"eager", &layer.eager},
    {"inexact", &layer.inexact},
    {"verify", &layer.verify},
    {"stats", &layer.stats},
};

/* Exits rather than aborts: a launcher that is told to abort may end the job
 * before it has printed the message. */
static void set_word(const char *word)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].name, word))
            continue;
        if (words[i].set)
            *words[i].set = true;
        return;
    }
    fprintf(stderr,
            "dcoll_mpi: DCOLL_MPI: '%s' is wrong; allowed: on, off, always, "
            "eager, inexact, verify, stats, with commas between them\n",
            word);
    exit(2);
}

static void read_words(void)
{
    const char *given = getenv("DCOLL_MPI");
    char *text = strdup(given ? given : ""), *left = text, *word;
    while (text && (word = strsep(&left, ",")))
        if (*word)
            set_word(word);
    free(text);
    layer.always |= layer.verify;
    layer.inexact |= layer.always;
    layer.eager |= layer.always;
}

void settings_read(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_words);
}

/* Not MPI_COMM_NULL_COPY_FN: its address is not known before MPI is loaded. */
static int copy_nothing(MPI_Comm comm, int key, void *extra, void *from,
                        void *to, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)from, (void)to;
    *flag = 0;
    return MPI_SUCCESS;
}

/* A forked process has no progress thread, and shares teams and connections
 * with its parent: calls that it makes by libdcoll would disturb the parent's.
 */
static void leave_forked(void)
{
    layer.off = true;
}

/* A program that uses MPI sessions only has no MPI_COMM_WORLD: all its calls
 * are left. */
static void setup(void)
{
    int threads, initialized;
    pmpi_ready();
    settings_read();
    if (pmpi.Initialized(&initialized) || !initialized) {
        layer.off = true;
        return;
    }
    if (pmpi.Query_thread(&threads) || threads == MPI_THREAD_MULTIPLE)
        layer.threads = true;
    if (pthread_atfork(NULL, NULL, leave_forked))
        layer.off = true;
    layer.intercepted = interceptors_complete();
    if (pmpi.Comm_create_keyval(copy_nothing, layer_comm_forget, &layer.key,
                                NULL))
        layer.off = true;
}

void layer_setup(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, setup);
}

bool layer_is_off(void)
{
    return layer.off || layer.ended;
}
