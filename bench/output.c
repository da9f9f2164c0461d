/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"

int output_open(output_t *output, const char *path, format_t format)
{
    struct stat st;
    *output = (output_t){.file = stdout, .format = format, .path = path};
    if (!path)
        return 0;
    if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
        output->file = fopen(path, "we");
        return output->file ? 0 : -1;
    }
    if (asprintf(&output->temporary, "%s.%ld.tmp", path, (long)getpid()) < 0) {
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
    return -1;
}

int output_commit(output_t *output)
{
    if (fflush(output->file) || ferror(output->file))
        return -1;
    return output->temporary ? rename(output->temporary, output->path) : 0;
}

void output_discard(output_t *output)
{
    if (output->temporary)
        unlink(output->temporary);
    if (output->path && output->file)
        fclose(output->file);
    free(output->temporary);
}
