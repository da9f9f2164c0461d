/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/job/launch/pmi2_wire.h"

/* Appends to the message; false: there is no room. */
__attribute__((format(printf, 3, 4))) static bool
append(char *message, size_t *used, const char *format, ...)
{
    va_list args;
    size_t room = PMI2_MOST + 1 - *used;
    va_start(args, format);
    int n = vsnprintf(message + *used, room, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= room)
        return false;
    *used += (size_t)n;
    return true;
}

size_t pmi2_write(char text[PMI2_HEAD + PMI2_MOST + 1], const char *command,
                  ...)
{
    va_list args;
    char head[PMI2_HEAD + 1];
    const char *key;
    size_t used = 0;
    bool fits = append(text + PMI2_HEAD, &used, "cmd=%s;", command);
    va_start(args, command);
    while (fits && (key = va_arg(args, const char *))) {
        const char *value = va_arg(args, const char *);
        if (value && *value)
            fits = append(text + PMI2_HEAD, &used, "%s=%s;", key, value);
    }
    va_end(args);
    if (!fits)
        return 0;
    snprintf(head, sizeof head, "%6u", (unsigned)used);
    memcpy(text, head, PMI2_HEAD);
    return PMI2_HEAD + used;
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
