/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/files.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "omp/runtime/fail.h"
#include "omp/runtime/memory.h"
#include "omp/wrapper/program.h"

/* The FILEs of all ranks: no two ranks have one at the same address, but for
 * the standard ones. On the shared heap. */
struct shared_file {
    struct shared_file *next;
    FILE *file;
    unsigned owner;
    unsigned standard; /* 1, 2, 3: stdin, stdout, stderr; 0: another */
};

/* What the owner is to do. On the shared heap. */
struct file_job {
    struct file_job *next;
    FILE *file;
    unsigned owner;
    enum file_action {
        FILE_WRITES,
        FILE_WRITES_WIDE, /* the text has wchar_t */
        FILE_FLUSHES,
        FILE_CLOSES
    } action;
    size_t bytes, room;
    char text[];
};

/* FILEs of this rank, but the standard ones. */
enum { OWN_FILES = 1024 };
static FILE *_Atomic own[OWN_FILES];
static FILE *pipes[OWN_FILES]; /* railomp_file_is_pipe() */
static _Atomic unsigned own_end;

static pthread_mutex_t draining = PTHREAD_MUTEX_INITIALIZER;
static __thread bool is_draining;
static _Atomic uint64_t drained_at; /* memory_acquisitions() */
static _Atomic bool has_queued;

#define WORDS (&shared_words->files)

static FILE *standard(unsigned number)
{
    return number == 1   ? stdin
           : number == 2 ? stdout
           : number == 3 ? stderr
                         : NULL;
}

static bool is_standard(const FILE *file)
{
    return file == stdin || file == stdout || file == stderr;
}

static void *allocated(size_t bytes)
{
    void *p = memory_malloc(bytes);
    if (!p)
        fail(FAILED, "out of memory for a file");
    return p;
}

/* -------------------------------------------------------------- own files */

static bool is_own(const FILE *file)
{
    for (unsigned i = 0; i < own_end; i++)
        if (own[i] == file)
            return true;
    return false;
}

static bool add_own(FILE *file)
{
    for (unsigned i = 0; i < OWN_FILES; i++) {
        FILE *none = NULL;
        if (!atomic_compare_exchange_strong(&own[i], &none, file))
            continue;
        unsigned end = own_end;
        while (end <= i && !atomic_compare_exchange_weak(&own_end, &end, i + 1))
            ;
        return true;
    }
    return false;
}

/* Returns the pipe that belongs to it. */
static FILE *remove_own(const FILE *file)
{
    FILE *pipe = NULL;
    for (unsigned i = 0; i < own_end; i++) {
        if (own[i] != file)
            continue;
        pipe = pipes[i];
        pipes[i] = NULL;
        own[i] = NULL;
    }
    return pipe;
}

void railomp_file_is_pipe(void *file, void *pipe)
{
    for (unsigned i = 0; i < own_end; i++)
        if (own[i] == file)
            pipes[i] = pipe;
}

/* ----------------------------------------------------- files of all ranks */

/* Where it is in the list, or the list's end. Under the lock. */
static struct shared_file **find(const FILE *file)
{
    struct shared_file **at = (struct shared_file **)&WORDS->files;
    while (*at && (*at)->file != file)
        at = &(*at)->next;
    return at;
}

/* False: another one has the address. */
static bool publish(FILE *file, unsigned number)
{
    memory_lock(&WORDS->lock);
    struct shared_file **at = find(file);
    const bool is_new = !*at;
    if (is_new) {
        *at = allocated(sizeof **at);
        **at = (struct shared_file){NULL, file, memory_rank(), number};
    }
    memory_unlock(&WORDS->lock);
    return is_new;
}

void files_begin(void)
{
    for (unsigned number = 1; number <= 3; number++)
        publish(standard(number), number);
}

bool files_begin_lines(void)
{
    enum { UNBUFFERED = 1 };
    if (memory_ranks() == 1 || __flbf(stdout) ||
        __fbufsize(stdout) == UNBUFFERED)
        return false;
    /* a terminal: the C library finds that out when it makes the buffer */
    if (!__fbufsize(stdout) && isatty(STDOUT_FILENO))
        return false;
    return !setvbuf(stdout, NULL, _IOLBF, 0);
}

void files_end_lines(void)
{
    setvbuf(stdout, NULL, _IOFBF, 0);
}

bool railomp_file_opened(void *file)
{
    if (memory_ranks() == 1)
        return true;
    if (!add_own(file))
        fail(NOT_SERVED, "more than %d open files of a rank are not served",
             OWN_FILES);
    return publish(file, 0);
}

void *railomp_file_closes(void *file)
{
    if (memory_ranks() == 1 || !is_own(file))
        return NULL;
    FILE *pipe = remove_own(file);
    memory_lock(&WORDS->lock);
    struct shared_file **at = find(file), *found = *at;
    if (found && found->owner == memory_rank()) {
        *at = found->next;
        memory_free(found);
    }
    memory_unlock(&WORDS->lock);
    return pipe;
}

/* -------------------------------------------------------- list, and owner */

static bool queue_is_for(const struct file_job *last, const FILE *file,
                         enum file_action action, size_t bytes)
{
    return bytes && last && last->file == file && last->action == action &&
           bytes <= last->room - last->bytes;
}

/* Behind what is there for any file. False: no rank has the file. */
static bool queue(FILE *file, enum file_action action, const void *text,
                  size_t bytes)
{
    enum { LEAST = 1000 };
    memory_lock(&WORDS->lock);
    const struct shared_file *found = *find(file);
    struct file_job *last = WORDS->last;
    if (found && !queue_is_for(last, file, action, bytes)) {
        const size_t room = bytes > LEAST ? bytes : LEAST;
        struct file_job *job = allocated(sizeof *job + room);
        *job = (struct file_job){.file = file,
                                 .owner = found->owner,
                                 .action = action,
                                 .room = room};
        if (last)
            last->next = job;
        else
            WORDS->first = job;
        WORDS->last = last = job;
    }
    if (found && bytes) {
        memcpy(last->text + last->bytes, text, bytes);
        last->bytes += bytes;
    }
    memory_unlock(&WORDS->lock);
    has_queued = true;
    return found;
}

bool files_are_queued(void)
{
    return atomic_load(&has_queued) && atomic_exchange(&has_queued, false);
}

/* Takes this rank's part out of the list. */
static struct file_job *take(void)
{
    struct file_job *mine = NULL, **end = &mine, *last = NULL;
    struct file_job **at = (struct file_job **)&WORDS->first;
    while (*at) {
        struct file_job *job = *at;
        if (job->owner != memory_rank()) {
            last = job;
            at = &job->next;
            continue;
        }
        *at = job->next;
        job->next = NULL;
        *end = job;
        end = &job->next;
    }
    WORDS->last = last;
    return mine;
}

/* From a private copy: the system call must find the pages. */
static void write_text(const struct file_job *job)
{
    char *text = malloc(job->bytes);
    if (!text)
        fail(FAILED, "out of memory for a file");
    memcpy(text, job->text, job->bytes);
    fwrite(text, 1, job->bytes, job->file);
    free(text);
}

static void write_wide(const struct file_job *job)
{
    for (size_t at = 0; at < job->bytes; at += sizeof(wchar_t)) {
        wchar_t c;
        memcpy(&c, job->text + at, sizeof c);
        fputwc(c, job->file);
    }
}

/* And the pipe that belongs to it. */
static void close_file(FILE *file)
{
    FILE *pipe = railomp_file_closes(file);
    fclose(file);
    if (pipe)
        pclose(pipe);
}

static void carry_out(const struct file_job *job)
{
    if (!is_own(job->file))
        return;
    switch (job->action) {
    case FILE_WRITES:
        write_text(job);
        return;
    case FILE_WRITES_WIDE:
        write_wide(job);
        return;
    case FILE_FLUSHES:
        fflush(job->file);
        return;
    case FILE_CLOSES:
        close_file(job->file);
    }
}

void files_drain(void)
{
    pthread_mutex_lock(&draining);
    is_draining = true;
    memory_lock(&WORDS->lock);
    const uint64_t now = memory_acquisitions();
    struct file_job *job = take();
    memory_unlock(&WORDS->lock);
    for (struct file_job *next; job; job = next) {
        next = job->next;
        carry_out(job);
        memory_free(job);
    }
    drained_at = now;
    is_draining = false;
    pthread_mutex_unlock(&draining);
}

/* ------------------------------------------------- what the program calls */

void *railomp_file_here(void *file)
{
    if (memory_ranks() == 1 || !file || is_standard(file))
        return file;
    if (is_own(file)) {
        if (!is_draining && drained_at != memory_acquisitions())
            files_drain();
        return file;
    }
    memory_lock(&WORDS->lock);
    const struct shared_file *found = *find(file);
    /* of a library, if no rank has opened it */
    void *here = found ? standard(found->standard) : file;
    memory_unlock(&WORDS->lock);
    return here;
}

void *railomp_file_needed(void *file, const char *function)
{
    void *here = railomp_file_here(file);
    if (file && !here)
        fail(NOT_SERVED,
             "%s() is not served for a FILE that another rank has opened: a "
             "rank can only write to it, flush it or close it",
             function);
    return here;
}

void railomp_file_write(void *file, const void *text, size_t bytes)
{
    if (bytes)
        queue(file, FILE_WRITES, text, bytes);
}

void railomp_file_write_wide(void *file, const wchar_t *text, size_t count)
{
    if (count)
        queue(file, FILE_WRITES_WIDE, text, count * sizeof *text);
}

void railomp_file_flush(void *file)
{
    queue(file, FILE_FLUSHES, NULL, 0);
}

void railomp_file_close(void *file)
{
    queue(file, FILE_CLOSES, NULL, 0);
}
