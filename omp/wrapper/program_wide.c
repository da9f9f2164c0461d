/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: calls of the C library with a FILE of wide
 * characters, as program_files.c has those of bytes. */
#include <stdarg.h>
#include <wchar.h>

#include "omp/wrapper/wrapped_files.h"

/* the linker's names */
void *__real_malloc(size_t bytes);
void __real_free(void *p);

/* ------------------------------------------------------------------ output */

#define PUTS_ONE(name)                                                         \
    WRAPPED(wint_t, name, wchar_t c, FILE *file)                               \
    {                                                                          \
        FILE *here = railomp_file_here(file);                                  \
        if (here)                                                              \
            return __real_##name(c, here);                                     \
        railomp_file_write_wide(file, &c, 1);                                  \
        return (wint_t)c;                                                      \
    }
PUTS_ONE(fputwc)
PUTS_ONE(putwc)
PUTS_ONE(fputwc_unlocked)
PUTS_ONE(putwc_unlocked)

PUTS(fputws, wchar_t, railomp_file_write_wide, wcslen)
PUTS(fputws_unlocked, wchar_t, railomp_file_write_wide, wcslen)

/* As long as it needs: vswprintf() does not tell how long the text is. In
 * private memory; NULL: an error. */
static wchar_t *printed(const wchar_t *format, va_list arguments, int *length)
{
    enum { FIRST = 256, MOST = 1 << 24 };
    wchar_t *text = NULL;
    *length = -1;
    for (size_t room = FIRST; room <= MOST && *length < 0; room *= 4) {
        va_list again;
        __real_free(text);
        text = __real_malloc(room * sizeof *text);
        if (!text)
            return NULL;
        va_copy(again, arguments);
        *length = vswprintf(text, room, format, again);
        va_end(again);
    }
    return text;
}

WRAPPED(int, vfwprintf, FILE *file, const wchar_t *format, va_list arguments)
{
    FILE *here = railomp_file_here(file);
    int length;
    if (here)
        return __real_vfwprintf(here, format, arguments);
    wchar_t *text = printed(format, arguments, &length);
    if (length > 0)
        railomp_file_write_wide(file, text, (size_t)length);
    __real_free(text);
    return length;
}

PRINTS(fwprintf, vfwprintf, wchar_t)
VPRINTS_CHECKED(__vfwprintf_chk, vfwprintf, wchar_t)
PRINTS_CHECKED(__fwprintf_chk, __vfwprintf_chk, wchar_t)

/* ----------------------------------------------------- what the owner does */

#define GETS_ONE(name)                                                         \
    WRAPPED(wint_t, name, FILE *file)                                          \
    {                                                                          \
        return __real_##name(NEEDS_OWN(name));                                 \
    }
GETS_ONE(fgetwc)
GETS_ONE(getwc)
GETS_ONE(fgetwc_unlocked)
GETS_ONE(getwc_unlocked)

GETS(fgetws, wchar_t)
GETS(fgetws_unlocked, wchar_t)

/* with -D_FORTIFY_SOURCE */
WRAPPED(wchar_t *, __fgetws_chk, wchar_t *to, size_t room, int most, FILE *file)
{
    return __real___fgetws_chk(to, room, most, NEEDS_OWN(fgetws));
}

WRAPPED(wint_t, ungetwc, wint_t c, FILE *file)
{
    return __real_ungetwc(c, NEEDS_OWN(ungetwc));
}

WRAPPED(int, fwide, FILE *file, int mode)
{
    return __real_fwide(NEEDS_OWN(fwide), mode);
}

WRAPPED(int, vfwscanf, FILE *file, const wchar_t *format, va_list arguments)
{
    return __real_vfwscanf(NEEDS_OWN(fwscanf), format, arguments);
}

WRAPPED(int, __isoc99_vfwscanf, FILE *file, const wchar_t *format,
        va_list arguments)
{
    return __real___isoc99_vfwscanf(NEEDS_OWN(fwscanf), format, arguments);
}

SCANS(fwscanf, vfwscanf, wchar_t)
SCANS(__isoc99_fwscanf, __isoc99_vfwscanf, wchar_t)
