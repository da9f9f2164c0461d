/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/job/rendezvous/secret.h"

int secret_set(struct secret *secret, const char *text, size_t length)
{
    if (length < SECRET_MIN || length > SECRET_MAX)
        return DRAIL_EINVAL;
    memcpy(secret->text, text, length);
    secret->text[length] = '\0';
    secret->length = length;
    return 0;
}

static int wrong_length(const char *where, drail_error_t *err)
{
    return error_set(err, DRAIL_EINVAL,
                     "%s: its secret must have %u to %u characters", where,
                     SECRET_MIN, SECRET_MAX);
}

/* Others must not be able to read the file. */
static int check_private(int fd, const char *path, drail_error_t *err)
{
    struct stat st;
    if (fstat(fd, &st))
        return error_set(err, DRAIL_EINVAL, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return error_set(err, DRAIL_EINVAL, "%s: not a regular file", path);
    if (st.st_mode & 077 || (st.st_uid != geteuid() && st.st_uid != 0))
        return error_set(err, DRAIL_EINVAL,
                         "%s: the file of a secret must be private (yours, "
                         "mode 0600)",
                         path);
    return 0;
}

/* The secret is the first line of the file. */
static int from_file(struct secret *secret, const char *path,
                     drail_error_t *err)
{
    char text[SECRET_MAX + 2];
    if (!*path)
        return error_set(err, DRAIL_EINVAL,
                         "DRAIL_SECRET_FILE is empty: it must name a file "
                         "that holds a secret");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return error_set(err, DRAIL_EINVAL, "%s: %s", path, strerror(errno));
    int rc = check_private(fd, path, err);
    ssize_t n = rc ? 0 : read(fd, text, sizeof text);
    close(fd);
    if (rc)
        return rc;
    if (n < 0)
        return error_set(err, DRAIL_EINVAL, "%s: %s", path, strerror(errno));
    if (!n)
        return error_set(err, DRAIL_EINVAL,
                         "%s: the file of the secret (DRAIL_SECRET_FILE) is "
                         "empty",
                         path);
    const char *end = memchr(text, '\n', (size_t)n);
    return secret_set(secret, text, end ? (size_t)(end - text) : (size_t)n)
               ? wrong_length(path, err)
               : 0;
}

int secret_find(struct secret *secret, const char *file, drail_error_t *err)
{
    const char *text = getenv("DRAIL_SECRET");
    if (!file)
        file = getenv("DRAIL_SECRET_FILE");
    if (file)
        return from_file(secret, file, err);
    if (!text)
        return error_set(err, DRAIL_EINVAL,
                         "a rendezvous needs a secret that all ranks have: "
                         "name its file by DRAIL_SECRET_FILE, made by "
                         "(umask 077; openssl rand -hex 32 > FILE)");
    return secret_set(secret, text, strlen(text))
               ? wrong_length("DRAIL_SECRET", err)
               : 0;
}

int secret_make(struct secret *secret, drail_error_t *err)
{
    unsigned char bytes[32];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return error_set(err, DRAIL_EJOB, "getrandom: %s", strerror(errno));
    for (unsigned i = 0; i < sizeof bytes; i++)
        sprintf(secret->text + 2 * i, "%02x", bytes[i]);
    secret->length = 2 * sizeof bytes;
    return 0;
}
