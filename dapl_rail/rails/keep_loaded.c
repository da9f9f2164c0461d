/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last dat_ia_close of a provider unloads its library. libdaplofa then
 * waits until its thread reports its end, but not until the thread has left the
 * library: now and then its code was gone, and the process crashed.
 */
#include <dlfcn.h>
#include <stdint.h>

#include <dat2/udat.h>
#include <dat2/udat_redirection.h>

#include "dapl_rail/rails/keep_loaded.h"

void provider_keep_loaded(DAT_HANDLE handle)
{
    const DAT_PROVIDER *provider = DAT_HANDLE_TO_PROVIDER(handle);
    Dl_info library;
    if (!dladdr((void *)(uintptr_t)provider->ia_open_func, &library))
        return;
    void *kept =
        dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (kept)
        dlclose(kept); /* RTLD_NODELETE stays */
}
