/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program. The program's calls of the C library with a FILE
 * come here. If the rank has not opened the file, a call that writes is passed
 * on to the rank that has, its owner; other calls are refused. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "omp/wrapper/program.h"

/* the linker's names */
#define WRAPPED(type, name, ...)                                               \
    type __real_##name(__VA_ARGS__);                                           \
    type __wrap_##name(__VA_ARGS__);                                           \
    type __wrap_##name(__VA_ARGS__)

int __real_vasprintf(char **text, const char *format, va_list arguments);
void __real_free(void *p);
FILE *__real_fdopen(int fd, const char *mode);

/* ---------------------------------------------------------- open and close */

/* The file, or another one for the same descriptor. The first one then keeps
 * its address from being used again. */
static FILE *opened(FILE *file, const char *mode)
{
    while (file && !railomp_file_opened(file)) {
        railomp_file_closes(file);
        file = __real_fdopen(fileno_unlocked(file), mode);
    }
    return file;
}

/* A FILE of memory has no descriptor, and one of popen() is more than its
 * descriptor: no other FILE can take its place. */
static FILE *opened_as_is(FILE *file)
{
    if (file)
        railomp_file_opened(file);
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

WRAPPED(FILE *, popen, const char *command, const char *mode)
{
    return opened_as_is(__real_popen(command, mode));
}

WRAPPED(FILE *, fmemopen, void *start, size_t bytes, const char *mode)
{
    return opened_as_is(__real_fmemopen(start, bytes, mode));
}

WRAPPED(FILE *, open_memstream, char **start, size_t *bytes)
{
    return opened_as_is(__real_open_memstream(start, bytes));
}

WRAPPED(int, fclose, FILE *file)
{
    FILE *here = railomp_file_here(file);
    if (!here) {
        railomp_file_close(file);
        return 0;
    }
    railomp_file_closes(here);
    return __real_fclose(here);
}

WRAPPED(int, pclose, FILE *file)
{
    FILE *here = railomp_file_needed(file, "pclose");
    railomp_file_closes(here);
    return __real_pclose(here);
}

/* ------------------------------------------------------------------ output */

WRAPPED(int, fflush, FILE *file)
{
    FILE *here = railomp_file_here(file);
    if (here || !file)
        return __real_fflush(here);
    railomp_file_flush(file);
    return 0;
}

WRAPPED(size_t, fwrite, const void *from, size_t bytes, size_t count,
        FILE *file)
{
    FILE *here = railomp_file_here(file);
    if (here)
        return __real_fwrite(from, bytes, count, here);
    railomp_file_write(file, from, bytes * count);
    return bytes ? count : 0;
}

WRAPPED(int, fputs, const char *text, FILE *file)
{
    FILE *here = railomp_file_here(file);
    if (here)
        return __real_fputs(text, here);
    railomp_file_write(file, text, strlen(text));
    return 1;
}

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

WRAPPED(int, fprintf, FILE *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = __wrap_vfprintf(file, format, arguments);
    va_end(arguments);
    return length;
}

/* with -D_FORTIFY_SOURCE */
WRAPPED(int, __vfprintf_chk, FILE *file, int flag, const char *format,
        va_list arguments)
{
    FILE *here = railomp_file_here(file);
    return here ? __real___vfprintf_chk(here, flag, format, arguments)
                : __wrap_vfprintf(file, format, arguments);
}

WRAPPED(int, __fprintf_chk, FILE *file, int flag, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = __wrap___vfprintf_chk(file, flag, format, arguments);
    va_end(arguments);
    return length;
}

/* ----------------------------------------------------- what the owner does */

#define NEEDS_OWN(name) railomp_file_needed(file, #name)

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

WRAPPED(char *, fgets, char *to, int room, FILE *file)
{
    return __real_fgets(to, room, NEEDS_OWN(fgets));
}

WRAPPED(size_t, fread, void *to, size_t bytes, size_t count, FILE *file)
{
    return __real_fread(to, bytes, count, NEEDS_OWN(fread));
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

WRAPPED(int, setvbuf, FILE *file, char *buffer, int mode, size_t bytes)
{
    return __real_setvbuf(NEEDS_OWN(setvbuf), buffer, mode, bytes);
}

WRAPPED(void, setbuf, FILE *file, char *buffer)
{
    __real_setbuf(NEEDS_OWN(setbuf), buffer);
}

WRAPPED(FILE *, freopen, const char *path, const char *mode, FILE *file)
{
    return __real_freopen(path, mode, NEEDS_OWN(freopen));
}

WRAPPED(FILE *, freopen64, const char *path, const char *mode, FILE *file)
{
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

#define SCANS(name, by)                                                        \
    WRAPPED(int, name, FILE *file, const char *format, ...)                    \
    {                                                                          \
        va_list arguments;                                                     \
        va_start(arguments, format);                                           \
        const int found = __wrap_##by(file, format, arguments);                \
        va_end(arguments);                                                     \
        return found;                                                          \
    }
SCANS(fscanf, vfscanf)
SCANS(__isoc99_fscanf, __isoc99_vfscanf)
