/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program. The program's calls of the C library with a FILE
 * come here. If the rank has not opened the file, a call that writes is passed
 * on to the rank that has, its owner; other calls are refused. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "omp/wrapper/wrapped_files.h"

int __real_vasprintf(char **text, const char *format, va_list arguments);
void __real_free(void *p);
FILE *__real_fdopen(int fd, const char *mode);
int __real_fclose(FILE *file);
int __real_pclose(FILE *file);
int __real_fileno_unlocked(FILE *file);
/* the C library's own name */
int _IO_setvbuf(FILE *file, char *buffer, int mode, size_t bytes);

/* ---------------------------------------------------------- open and close */

/* The file, or another one for the same descriptor. The first one then keeps
 * its address from being used again. */
static FILE *opened(FILE *file, const char *mode)
{
    while (file && !railomp_file_opened(file)) {
        railomp_file_closes(file);
        file = __real_fdopen(__real_fileno_unlocked(file), mode);
    }
    return file;
}

WRAPPED(FILE *, fopen, const char *path, const char *mode)
{
    return opened(__real_fopen(path, mode), mode);
}

WRAPPED(FILE *, fopen64, const char *path, const char *mode)
{
    return opened(__real_fopen64(path, mode), mode);
}

WRAPPED(FILE *, fdopen, int fd, const char *mode)
{
    return opened(__real_fdopen(fd, mode), mode);
}

WRAPPED(FILE *, tmpfile, void)
{
    return opened(__real_tmpfile(), "w+");
}

WRAPPED(FILE *, tmpfile64, void)
{
    return opened(__real_tmpfile64(), "w+");
}

/* The kernel does not wait for a page that is elsewhere. */
static void fetch_text(const char *text)
{
    if (text)
        railomp_prepare(text, strlen(text) + 1, false);
}

/* If the address is another rank's, a FILE of the same descriptor takes its
 * place. */
WRAPPED(FILE *, popen, const char *command, const char *mode)
{
    fetch_text(command);
    FILE *pipe = __real_popen(command, mode);
    if (!pipe || railomp_file_opened(pipe))
        return pipe;
    railomp_file_closes(pipe);
    const int copy = fcntl(__real_fileno_unlocked(pipe), F_DUPFD_CLOEXEC, 0);
    FILE *file = opened(__real_fdopen(copy, mode), mode);
    if (file)
        railomp_file_is_pipe(file, pipe);
    return file;
}

/* A FILE of memory has no descriptor: it is opened again, while the one before
 * keeps its address from being used. */
WRAPPED(FILE *, fmemopen, void *start, size_t bytes, const char *mode)
{
    FILE *file = __real_fmemopen(start, bytes, mode);
    if (!file || railomp_file_opened(file))
        return file;
    railomp_file_closes(file);
    FILE *other = __wrap_fmemopen(start, bytes, mode);
    __real_fclose(file);
    return other;
}

WRAPPED(FILE *, open_memstream, char **start, size_t *bytes)
{
    FILE *file = __real_open_memstream(start, bytes);
    if (!file || railomp_file_opened(file))
        return file;
    railomp_file_closes(file);
    FILE *other = __wrap_open_memstream(start, bytes);
    __real_fclose(file);
    __real_free(*start);
    *start = NULL;
    return other;
}

/* Its own FILE, and what belongs to it. */
static int close_own(FILE *file)
{
    FILE *pipe = railomp_file_closes(file);
    const int rc = __real_fclose(file);
    return pipe ? __real_pclose(pipe) : rc;
}

WRAPPED(int, fclose, FILE *file)
{
    FILE *here = railomp_file_here(file);
    if (here)
        return close_own(here);
    railomp_file_close(file);
    return 0;
}

/* The second one is that of popen(). */
WRAPPED(int, pclose, FILE *file)
{
    return close_own(railomp_file_needed(file, "pclose"));
}

/* ------------------------------------------------------------------ output */

#define FLUSHES(name)                                                          \
    WRAPPED(int, name, FILE *file)                                             \
    {                                                                          \
        FILE *here = railomp_file_here(file);                                  \
        if (here || !file)                                                     \
            return __real_##name(here);                                        \
        railomp_file_flush(file);                                              \
        return 0;                                                              \
    }
FLUSHES(fflush)
FLUSHES(fflush_unlocked)

WRAPPED(size_t, fwrite, const void *from, size_t bytes, size_t count,
        FILE *file)
{
    FILE *here = railomp_file_here(file);
    if (here)
        return __real_fwrite(from, bytes, count, here);
    railomp_file_write(file, from, bytes * count);
    return bytes ? count : 0;
}

/* fwrite() fetches the pages before (program_io.c). */
WRAPPED(size_t, fwrite_unlocked, const void *from, size_t bytes, size_t count,
        FILE *file)
{
    return __wrap_fwrite(from, bytes, count, file);
}

PUTS(fputs, char, railomp_file_write, strlen)
PUTS(fputs_unlocked, char, railomp_file_write, strlen)

#define PUTS_ONE(name)                                                         \
    WRAPPED(int, name, int c, FILE *file)                                      \
    {                                                                          \
        FILE *here = railomp_file_here(file);                                  \
        const unsigned char one = (unsigned char)c;                            \
        if (here)                                                              \
            return __real_##name(c, here);                                     \
        railomp_file_write(file, &one, 1);                                     \
        return one;                                                            \
    }
PUTS_ONE(fputc)
PUTS_ONE(putc)
PUTS_ONE(_IO_putc)
PUTS_ONE(fputc_unlocked)
PUTS_ONE(putc_unlocked)

WRAPPED(int, putw, int word, FILE *file)
{
    FILE *here = railomp_file_here(file);
    if (here)
        return __real_putw(word, here);
    railomp_file_write(file, &word, sizeof word);
    return 0;
}

/* The text is made here, as it may be made of private memory. */
WRAPPED(int, vfprintf, FILE *file, const char *format, va_list arguments)
{
    FILE *here = railomp_file_here(file);
    char *text = NULL;
    if (here)
        return __real_vfprintf(here, format, arguments);
    const int length = __real_vasprintf(&text, format, arguments);
    if (length > 0)
        railomp_file_write(file, text, (size_t)length);
    if (length >= 0)
        __real_free(text);
    return length;
}

PRINTS(fprintf, vfprintf, char)
VPRINTS_CHECKED(__vfprintf_chk, vfprintf, char)
PRINTS_CHECKED(__fprintf_chk, __vfprintf_chk, char)

/* ----------------------------------------------------- what the owner does */

#define OF_FILE(type, name)                                                    \
    WRAPPED(type, name, FILE *file)                                            \
    {                                                                          \
        return __real_##name(NEEDS_OWN(name));                                 \
    }
OF_FILE(int, fgetc)
OF_FILE(int, getc)
OF_FILE(int, _IO_getc)
OF_FILE(int, feof)
OF_FILE(int, ferror)
OF_FILE(int, fileno)
OF_FILE(long, ftell)
OF_FILE(off_t, ftello)
OF_FILE(off64_t, ftello64)
OF_FILE(void, rewind)
OF_FILE(void, clearerr)
OF_FILE(void, setlinebuf)
OF_FILE(void, flockfile)
OF_FILE(void, funlockfile)
OF_FILE(int, ftrylockfile)
OF_FILE(int, getw)
OF_FILE(int, fgetc_unlocked)
OF_FILE(int, getc_unlocked)
OF_FILE(int, feof_unlocked)
OF_FILE(int, ferror_unlocked)
OF_FILE(int, fileno_unlocked)
OF_FILE(void, clearerr_unlocked)

GETS(fgets, char)
GETS(fgets_unlocked, char)

WRAPPED(size_t, fread, void *to, size_t bytes, size_t count, FILE *file)
{
    return __real_fread(to, bytes, count, NEEDS_OWN(fread));
}

WRAPPED(size_t, fread_unlocked, void *to, size_t bytes, size_t count,
        FILE *file)
{
    return __wrap_fread(to, bytes, count, file);
}

/* with -D_FORTIFY_SOURCE: @room bytes are at @to */
WRAPPED(char *, __fgets_chk, char *to, size_t room, int most, FILE *file)
{
    return __real___fgets_chk(to, room, most, NEEDS_OWN(fgets));
}

WRAPPED(size_t, __fread_chk, void *to, size_t room, size_t bytes, size_t count,
        FILE *file)
{
    return __real___fread_chk(to, room, bytes, count, NEEDS_OWN(fread));
}

WRAPPED(char *, __fgets_unlocked_chk, char *to, size_t room, int most,
        FILE *file)
{
    return __wrap___fgets_chk(to, room, most, file);
}

WRAPPED(size_t, __fread_unlocked_chk, void *to, size_t room, size_t bytes,
        size_t count, FILE *file)
{
    return __wrap___fread_chk(to, room, bytes, count, file);
}

WRAPPED(int, ungetc, int c, FILE *file)
{
    return __real_ungetc(c, NEEDS_OWN(ungetc));
}

WRAPPED(int, fseek, FILE *file, long offset, int whence)
{
    return __real_fseek(NEEDS_OWN(fseek), offset, whence);
}

WRAPPED(int, fseeko, FILE *file, off_t offset, int whence)
{
    return __real_fseeko(NEEDS_OWN(fseeko), offset, whence);
}

WRAPPED(int, fseeko64, FILE *file, off64_t offset, int whence)
{
    return __real_fseeko64(NEEDS_OWN(fseeko64), offset, whence);
}

WRAPPED(int, fgetpos, FILE *file, fpos_t *position)
{
    return __real_fgetpos(NEEDS_OWN(fgetpos), position);
}

WRAPPED(int, fgetpos64, FILE *file, fpos64_t *position)
{
    return __real_fgetpos64(NEEDS_OWN(fgetpos64), position);
}

WRAPPED(int, fsetpos, FILE *file, const fpos_t *position)
{
    return __real_fsetpos(NEEDS_OWN(fsetpos), position);
}

WRAPPED(int, fsetpos64, FILE *file, const fpos64_t *position)
{
    return __real_fsetpos64(NEEDS_OWN(fsetpos64), position);
}

/* The kernel fills a file's buffer, and may find its page gone: then the
 * library takes a buffer of its own. */
WRAPPED(int, setvbuf, FILE *file, char *buffer, int mode, size_t bytes)
{
    return __real_setvbuf(NEEDS_OWN(setvbuf),
                          railomp_may_go(buffer, bytes) ? NULL : buffer, mode,
                          bytes);
}

WRAPPED(void, setbuffer, FILE *file, char *buffer, size_t bytes)
{
    if (railomp_may_go(buffer, bytes))
        _IO_setvbuf(NEEDS_OWN(setbuffer), NULL, _IOFBF, 0);
    else
        __real_setbuffer(NEEDS_OWN(setbuffer), buffer, bytes);
}

WRAPPED(void, setbuf, FILE *file, char *buffer)
{
    if (railomp_may_go(buffer, BUFSIZ))
        _IO_setvbuf(NEEDS_OWN(setbuf), NULL, _IOFBF, 0);
    else
        __real_setbuf(NEEDS_OWN(setbuf), buffer);
}

WRAPPED(FILE *, freopen, const char *path, const char *mode, FILE *file)
{
    fetch_text(path);
    return __real_freopen(path, mode, NEEDS_OWN(freopen));
}

WRAPPED(FILE *, freopen64, const char *path, const char *mode, FILE *file)
{
    fetch_text(path);
    return __real_freopen64(path, mode, NEEDS_OWN(freopen64));
}

WRAPPED(int, vfscanf, FILE *file, const char *format, va_list arguments)
{
    return __real_vfscanf(NEEDS_OWN(fscanf), format, arguments);
}

WRAPPED(int, __isoc99_vfscanf, FILE *file, const char *format,
        va_list arguments)
{
    return __real___isoc99_vfscanf(NEEDS_OWN(fscanf), format, arguments);
}

SCANS(fscanf, vfscanf, char)
SCANS(__isoc99_fscanf, __isoc99_vfscanf, char)
