/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: functions of the C library whose results point to
 * what the library has allocated. All ranks are to see that. */
#include <regex.h>
#include <search.h>
#include <wchar.h>

#include "omp/wrapper/program.h"

/* the linker's names */
#define SHARING(type, name, parameters, arguments)                             \
    type __real_##name parameters;                                             \
    type __wrap_##name parameters;                                             \
    type __wrap_##name parameters                                              \
    {                                                                          \
        railomp_shares_heap(true);                                             \
        type result = __real_##name arguments;                                 \
        railomp_shares_heap(false);                                            \
        return result;                                                         \
    }

int __real_regexec(const regex_t *regex, const char *text, size_t count,
                   regmatch_t *matches, int flags);
int __wrap_regexec(const regex_t *regex, const char *text, size_t count,
                   regmatch_t *matches, int flags);
void GOMP_critical_name_start(void **lock);
void GOMP_critical_name_end(void **lock);

SHARING(int, regcomp, (regex_t * regex, const char *text, int flags),
        (regex, text, flags))
SHARING(void *, tsearch, (const void *key, void **root, __compar_fn_t compare),
        (key, root, compare))
SHARING(wchar_t *, wcsdup, (const wchar_t *text), (text))

/* It adds to what regcomp() has made, which a copy of @regex has, too, under a
 * lock of one process only. */
int __wrap_regexec(const regex_t *regex, const char *text, size_t count,
                   regmatch_t *matches, int flags)
{
    static void *lock;
    if (!railomp_is_of_ranks(regex->buffer))
        return __real_regexec(regex, text, count, matches, flags);
    GOMP_critical_name_start(&lock);
    railomp_shares_heap(true);
    const int rc = __real_regexec(regex, text, count, matches, flags);
    railomp_shares_heap(false);
    GOMP_critical_name_end(&lock);
    return rc;
}
