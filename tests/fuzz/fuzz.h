/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A target of libFuzzer: one file fuzz_<name>.c, which gets inputs that are
 * anything; what it must never do is to crash, to hang, or to break a
 * must(). Those in corpus/<name>/ come first: seeds, and what has once been
 * found.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define must(condition)                                                        \
    ((condition) ? (void)0 : must_have(#condition, __FILE__, __LINE__))

/* Standard error as it is at the start: what parsers say there of an input is
 * not wanted (-close_fd_mask). */
static int must_fd;

__attribute__((constructor)) static void must_keep_fd(void)
{
    must_fd = dup(STDERR_FILENO);
}

static inline void must_have(const char *what, const char *file, int line)
{
    dprintf(must_fd, "%s:%d: not so: %s\n", file, line, what);
    abort();
}

/* The rest of an input; zeros behind its end. */
struct input {
    const uint8_t *at;
    size_t left;
};

static inline void input_take(struct input *in, void *to, size_t bytes)
{
    size_t n = bytes < in->left ? bytes : in->left;
    memset(to, 0, bytes);
    if (n)
        memcpy(to, in->at, n);
    in->at += n;
    in->left -= n;
}

static inline uint8_t input_byte(struct input *in)
{
    uint8_t byte;
    input_take(in, &byte, sizeof byte);
    return byte;
}

/* The next line, or what else ends at a zero byte, without its end. */
static inline void input_line(struct input *in, char *line, size_t size)
{
    size_t n = 0;
    while (in->left && *in->at && *in->at != '\n') {
        if (n + 1 < size)
            line[n++] = (char)*in->at;
        in->at++;
        in->left--;
    }
    line[n] = '\0';
    if (in->left)
        input_byte(in);
}

/* All of it as a string; the caller frees it. */
static inline char *input_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    must(text != NULL);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* A file of this content, for readers that take a path. */
struct content {
    int fd;
    char path[32];
};

static inline void content_open(struct content *c)
{
    c->fd = memfd_create("input", MFD_CLOEXEC);
    must(c->fd >= 0);
    snprintf(c->path, sizeof c->path, "/proc/self/fd/%d", c->fd);
}

static inline void content_add(struct content *c, const void *data, size_t size)
{
    must(write(c->fd, data, size) == (ssize_t)size);
}

static inline void content_close(struct content *c)
{
    close(c->fd);
}

#endif
