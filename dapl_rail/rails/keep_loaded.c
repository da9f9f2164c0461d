/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last dat_ia_close of a provider unloads its library. libdaplofa waits
 * then until its thread says that it ends, but not until it has left the
 * library: now and then a process ended with a segmentation fault, as the
 * thread's code was gone. So who has used a provider keeps it.
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
