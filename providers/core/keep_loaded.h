/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps the libraries of providers loaded. The last dat_ia_close of a provider
 * unloads its library. libdaplofa then waits until its thread reports its end,
 * but not until the thread has left the library: now and then its code was
 * gone, and the process crashed. Inline: the transport and a provider above
 * other providers do the same.
 */
#ifndef DAPL_CORE_KEEP_LOADED_H
#define DAPL_CORE_KEEP_LOADED_H

#include <dlfcn.h>
#include <stdint.h>

#include <dat2/udat.h>
#include <dat2/udat_redirection.h>

/* A handle for dlclose of the library whose provider made this object, which is
 * not an IA: the registry makes its handle. @p flags: of dlopen. Or NULL. */
static inline void *provider_library(DAT_HANDLE object, int flags)
{
    const DAT_PROVIDER *provider = DAT_HANDLE_TO_PROVIDER(object);
    Dl_info library;
    if (!dladdr((void *)(uintptr_t)provider->ia_open_func, &library))
        return NULL;
    return dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD | flags);
}

/*
 * Keeps that library loaded until the process ends. Only for ranks: a process
 * that forks later inherits the library's state without its threads.
 */
static inline void provider_keep_loaded(DAT_HANDLE object)
{
    void *kept = provider_library(object, RTLD_NODELETE);
    if (kept)
        dlclose(kept); /* RTLD_NODELETE stays */
}

#endif
