/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of a test that take the place of a library's, also where other
 * libraries call them. */
#ifndef TESTS_STAND_IN_H
#define TESTS_STAND_IN_H

#include <dlfcn.h>

#include <dat2/udat.h>

/* Precedes the definition. */
#define STAND_IN __attribute__((visibility("default")))

/* The library's function of this name: real(dat_ep_free)(ep). */
#define real(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#endif
