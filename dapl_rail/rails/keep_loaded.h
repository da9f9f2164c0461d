/* SPDX-License-Identifier: BSD-3-Clause */
/* The libraries of providers stay loaded. */
#ifndef DRAIL_RAILS_KEEP_LOADED_H
#define DRAIL_RAILS_KEEP_LOADED_H

#include <dat2/udat.h>

/*
 * Keeps the library of the provider who made this object (no IA: the registry
 * makes their handles) loaded until the process ends. A process that forks
 * after it inherits the library's state without its threads: only for ranks.
 */
void provider_keep_loaded(DAT_HANDLE handle);

#endif
