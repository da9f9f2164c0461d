/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks of a program share. Several ranks share a space of libddsm.
 * One rank has the process's own memory. Files that call these functions need
 * not know which it is.
 *
 * An error of the shared memory ends the program (fail.h).
 */
#ifndef OMP_RUNTIME_MEMORY_H
#define OMP_RUNTIME_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dsm/ddsm.h"

unsigned memory_rank(void);
unsigned memory_ranks(void);

/* From here on several ranks share the program's data, the heap and the stacks.
 * Called once, by all ranks. */
void memory_open(drail_job_t *job);
/* Or there is one rank only. */
void memory_alone(void);
/* All ranks; the program's data stay in place for what runs at exit. */
void memory_close(void);

/* As pthread_create(): thread @number of this rank, whose stack all ranks
 * share. */
int memory_thread(pthread_t *id, unsigned number, void *(*run)(void *),
                  void *argument);

/* Do all ranks see what is at @p? */
bool memory_is_shared(const void *p);

/* ------------------------------------------------------ synchronisation --- */

/* What a rank tells the others in a barrier. */
enum { NOTE_BYTES = DDSM_NOTE_BYTES };

/* Called by one thread of each rank while the other threads of the program
 * wait: all see what all have written. Without @all, notes are not exchanged.
 * @all has NOTE_BYTES for each rank. */
void memory_barrier(const void *mine, void *all);
/* Do ranks have copies of pages, which are fetched? */
bool memory_is_copied(void);
/* Call it right after memory_barrier(), if so: names the interval that begins.
 * The rank fetches the pages that it used in earlier intervals of that name. */
void memory_interval(const uint64_t names[DDSM_NAMES]);
/* What this rank has written can be seen after a memory_acquire(). */
void memory_release(void);
void memory_acquire(void);
/* How often threads of this rank have acquired, but in barriers. */
uint64_t memory_acquisitions(void);

/* Locks: a word of any memory that is 0 at first. Taking one acquires, giving
 * it back releases. Fair between ranks. */
void memory_lock(uint32_t *word);
bool memory_try_lock(uint32_t *word);
void memory_unlock(uint32_t *word);
/* Both make the word 0. Call the first before the first use of a lock, whatever
 * the word was, and the second when the lock ends. */
void memory_lock_begin(uint32_t *word);
void memory_lock_end(uint32_t *word);

/* As ddsm_atomic(), also of a word that ranks do not share. Returns the value
 * before. */
uint64_t memory_atomic(ddsm_atomic_t op, void *word, size_t bytes,
                       uint64_t operand, uint64_t expected);
static inline uint64_t memory_load(uint64_t *word)
{
    return memory_atomic(DDSM_LOAD, word, sizeof *word, 0, 0);
}

/* Words that the runtime itself shares: the same in all ranks. */
struct shared_words {
    uint64_t singles;          /* the next `single` that no thread has taken */
    uint32_t critical, atomic; /* locks */
    struct shared_files {      /* files.c */
        uint32_t lock;
        struct shared_file *files;
        struct file_job *first, *last;
    } files;
    struct shared_rooms { /* room.c */
        uint32_t lock;
        struct room *first;
    } rooms;
    struct shared_mappings { /* system/mapping.c */
        uint32_t lock;
        struct mapping *first;
    } mappings;
    struct shared_environment { /* system/environment.c */
        uint32_t lock;
        struct change *first, *last;
    } environment;
    struct league { /* teams; the program runs one after another */
        uint32_t teams, team, limit; /* of a team's threads; 0: none */
    } league;
    uint64_t allocator;   /* the default one; 0: the predefined one */
    struct shared_units { /* units.c */
        uint32_t lock, count;
        struct shared_unit {
            int32_t unit;
            uint32_t rank;
            bool is_open;
        } of[64];
    } units;
    char affinity_format[256]; /* "": the default one */
    uint64_t turn; /* the iteration whose `ordered` region is next (loop.c) */
    struct shared_loop {
        uint64_t next; /* iterations that are given out (batch.c) */
    } loops[64];
};
extern struct shared_words *shared_words;

/* ---------------------------------------------------------- statistics --- */

/* Of this rank, since the start. */
void memory_stats(ddsm_stats_t *stats);
size_t memory_page_bytes(void); /* 0 with one rank, which fetches none */
/* "own" with one rank; "shared" if all ranks map the same memory; else
 * "copied". */
const char *memory_kind(void);
/* As ddsm_page_costs(). */
void memory_page_costs(void (*visit)(const ddsm_page_cost_t *cost,
                                     void *context),
                       void *context);
/* All ranks: adds up the values of all. */
void memory_sum(uint64_t *values, size_t count);

/* ---------------------------------------------------------------- heap --- */

/* Shared by all ranks. */
void *memory_malloc(size_t bytes);
void *memory_calloc(size_t bytes);
/* @alignment: a power of two. Blocks have at least that of malloc. */
void *memory_aligned_alloc(size_t alignment, size_t bytes);
void *memory_realloc(void *p, size_t bytes);
void memory_free(void *p);

/* -------------------------------------------------------- system calls --- */

/* The kernel may read the range, or with @writable write it, in the next system
 * call of this thread. */
void memory_prepare(const void *start, size_t bytes, bool writable);
/* May pages of the range go while a system call waits? */
bool memory_may_go(const void *start, size_t bytes);

#endif
