/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"

#define TEMPORARIES 100 /* names that are tried */

/* Tries several names: a killed run may have left a file with this process's
 * number. */
static int open_temporary(output_t *output, const char *path)
{
    for (unsigned i = 0; i < TEMPORARIES; i++) {
        if (asprintf(&output->temporary, "%s.%ld-%u.tmp", path, (long)getpid(),
                     i) < 0) {
            output->temporary = NULL;
            return -1;
        }
        output->file = fopen(output->temporary, "wxe");
        if (output->file)
            return 0;
        int error = errno;
        free(output->temporary);
        output->temporary = NULL;
        errno = error;
        if (error != EEXIST)
            break;
    }
    return -1;
}

static bool standard_output_is_writable(void)
{
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    if (flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) != O_RDONLY)
        return true;
    errno = EBADF;
    return false;
}

/* Opens before anything is measured. Returns 0 or -1 with errno. */
static int open_output(output_t *output, const char *path, format_t format)
{
    struct stat st;
    *output = (output_t){.file = stdout, .format = format, .path = path};
    if (!path)
        return standard_output_is_writable() ? 0 : -1;
    if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
        output->file = fopen(path, "we");
        return output->file ? 0 : -1;
    }
    return open_temporary(output, path);
}

/* Writes all out and gives the file its name. Returns 0 or -1 with errno. */
static int commit(output_t *output)
{
    if (fflush(output->file) || ferror(output->file))
        return -1;
    return output->temporary ? rename(output->temporary, output->path) : 0;
}

static void discard(output_t *output)
{
    if (output->temporary)
        unlink(output->temporary);
    if (output->file && output->file != stdout)
        fclose(output->file);
    free(output->temporary);
}

static int open_one(outputs_t *outputs, const char *option, const char *path,
                    format_t format)
{
    if (!open_output(&outputs->list[outputs->count], path, format)) {
        outputs->count++;
        return 0;
    }
    if (path)
        fprintf(stderr,
                "%s: %s: '%s' is wrong: %s; allowed: a file that can be "
                "written\n",
                outputs->command, option, path, strerror(errno));
    else
        fprintf(stderr,
                "%s: standard output is not open for writing; open it, or "
                "name a file with --output\n",
                outputs->command);
    return -1;
}

/* Keeps standard output for the result: some providers write their errors
 * there. From now on these go to standard error. */
static void keep_apart(output_t *output)
{
    int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file) { /* if stdout is closed, writing fails later */
        if (fd >= 0)
            close(fd);
        return;
    }
    fflush(stdout);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    output->file = file;
}

int outputs_open(outputs_t *outputs, const options_t *opts, const char *command)
{
    if (opts->follows)
        return 0;
    outputs->command = command;
    outputs->copy = opts->copy;
    int rc = open_one(outputs, "--output", opts->output, opts->format);
    for (unsigned i = 0; !rc && i < opts->nsaves; i++)
        rc = open_one(outputs, "--save", opts->saves[i],
                      format_of(opts->saves[i]));
    if (!rc && opts->histogram)
        rc =
            open_one(outputs, "--histogram", opts->histogram, FORMAT_HISTOGRAM);
    if (!rc && !opts->output)
        keep_apart(&outputs->list[0]);
    return rc;
}

static void copy_table(struct table_copy *copy, output_writer_t *write,
                       const void *result)
{
    FILE *file = open_memstream(&copy->text, &copy->size);
    if (!file)
        return;
    write(file, FORMAT_TABLE, result);
    fclose(file);
}

int outputs_write(outputs_t *outputs, output_writer_t *write,
                  const void *result)
{
    int rc = 0, error = 0;
    /* if one file fails, the others are still written */
    for (unsigned i = 0; i < outputs->count; i++) {
        output_t *output = &outputs->list[i];
        if (write(output->file, output->format, result) || commit(output)) {
            error = errno;
            rc = -1;
        }
    }
    if (outputs->copy)
        copy_table(outputs->copy, write, result);
    errno = error;
    return rc;
}

int outputs_report(outputs_t *outputs, output_writer_t *write,
                   const void *result)
{
    int rc = outputs_write(outputs, write, result);
    if (rc)
        fprintf(stderr, "%s: can't write the result: %s\n", outputs->command,
                strerror(errno));
    return rc;
}

void outputs_discard(outputs_t *outputs)
{
    while (outputs->count)
        discard(&outputs->list[--outputs->count]);
}
