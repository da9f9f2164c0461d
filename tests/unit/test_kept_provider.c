/* SPDX-License-Identifier: BSD-3-Clause */
/* The library of a provider that a rank has used stays loaded, though the
 * registry lets it go: threads of the provider may still run in it. */
#include <dlfcn.h>

#include "unit.h"
#include <dat2/udat.h>
#include <dat2/udat_redirection.h>

#include "providers/core/keep_loaded.h"

#define LIBRARY "libdaplofa.so.2"

static bool loaded(void)
{
    void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
    if (library)
        dlclose(library);
    return library != NULL;
}

/* Loads the library and lets it go, as the registry does; in between, an
 * object of its provider is looked at where `keep` is set. */
static void open_and_close(bool keep)
{
    DAT_PROVIDER provider;
    DAT_PROVIDER *object = &provider; /* all of them begin like this */
    void *library = dlopen(LIBRARY, RTLD_LAZY);
    assert_non_null(library);
    memset(&provider, 0, sizeof provider);
    *(void **)&provider.ia_open_func = dlsym(library, "dat_provider_init");
    assert_non_null(provider.ia_open_func);
    if (keep)
        provider_keep_loaded(&object);
    dlclose(library);
}

static void test_kept(void **state)
{
    /* the registry, of which providers expect that it is there */
    assert_non_null(dlopen("libdat2.so.2", RTLD_LAZY | RTLD_GLOBAL));
    open_and_close(false);
    assert_false(loaded());
    for (int i = 0; i < 2; i++) {
        open_and_close(true);
        assert_true(loaded());
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
