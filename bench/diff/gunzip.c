/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gunzip.h"

extern char **environ;

bool gunzip_is_needed(const char *bytes, size_t size)
{
    return size > 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

static int spawn(int from, int to, pid_t *process)
{
    char *const command[] = {"gzip", "-dc", NULL};
    posix_spawn_file_actions_t files;
    int rc = posix_spawn_file_actions_init(&files);
    if (rc)
        return rc;
    rc = posix_spawn_file_actions_adddup2(&files, from, STDIN_FILENO);
    if (!rc)
        rc = posix_spawn_file_actions_adddup2(&files, to, STDOUT_FILENO);
    if (!rc) /* our error is shown instead of gzip's */
        rc = posix_spawn_file_actions_addopen(&files, STDERR_FILENO,
                                              "/dev/null", O_WRONLY, 0);
    if (!rc)
        rc = posix_spawnp(process, command[0], &files, NULL, command, environ);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

/* From memory that looks like a file, so that nobody waits for a reader. */
int gunzip_open(gunzip_t *gunzip, const char *bytes, size_t size)
{
    int ends[2] = {-1, -1}, rc = -1;
    int packed = memfd_create("result", MFD_CLOEXEC);
    if (packed < 0 || pwrite(packed, bytes, size, 0) != (ssize_t)size ||
        pipe2(ends, O_CLOEXEC))
        goto out;
    errno = spawn(packed, ends[1], &gunzip->process);
    if (errno)
        goto out;
    gunzip->text = fdopen(ends[0], "r");
    if (gunzip->text) {
        ends[0] = -1;
        rc = 0;
    } else {
        waitpid(gunzip->process, NULL, 0);
    }
out:
    for (unsigned i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    if (packed >= 0)
        close(packed);
    return rc;
}

int gunzip_close(gunzip_t *gunzip)
{
    int status = 0;
    fclose(gunzip->text); /* ends it, if it still writes */
    while (waitpid(gunzip->process, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -1;
}
