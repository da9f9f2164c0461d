/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/job/launch/pmi2_wire.h"

size_t pmi2_write(char text[PMI2_HEAD + PMI2_MOST + 1], const char *format, ...)
{
    va_list args;
    char head[PMI2_HEAD + 1];
    int start = sprintf(text + PMI2_HEAD, "cmd=");
    va_start(args, format);
    int n = vsnprintf(text + PMI2_HEAD + start, PMI2_MOST + 1 - (size_t)start,
                      format, args);
    va_end(args);
    size_t bytes = (size_t)(start + n);
    if (n < 0 || bytes > PMI2_MOST)
        return 0;
    snprintf(head, sizeof head, "%6u", (unsigned)bytes);
    memcpy(text, head, PMI2_HEAD);
    return PMI2_HEAD + bytes;
}

size_t pmi2_length(const char head[PMI2_HEAD])
{
    size_t length = 0;
    unsigned i = 0;
    while (i < PMI2_HEAD && head[i] == ' ')
        i++;
    for (; i < PMI2_HEAD && head[i] >= '0' && head[i] <= '9'; i++)
        length = 10 * length + (size_t)(head[i] - '0');
    while (i < PMI2_HEAD && head[i] == ' ') /* Slurm aligns to the left */
        i++;
    return i == PMI2_HEAD && length <= PMI2_MOST ? length : 0;
}

const char *pmi2_value(const char *message, const char *key, char *value,
                       size_t bytes)
{
    size_t length = strlen(key);
    for (const char *at = message; *at;) {
        const char *end = strchrnul(at, ';');
        if (!strncmp(at, key, length) && at[length] == '=') {
            const char *from = at + length + 1;
            size_t n = (size_t)(end - from);
            if (n >= bytes)
                return NULL;
            memcpy(value, from, n);
            value[n] = '\0';
            return value;
        }
        at = *end ? end + 1 : end;
    }
    return NULL;
}

long pmi2_number(const char *message, const char *key)
{
    char text[24], *end;
    if (!pmi2_value(message, key, text, sizeof text) || *text < '0' ||
        *text > '9')
        return -1;
    errno = 0;
    long n = strtol(text, &end, 10);
    return errno || *end ? -1 : n;
}
