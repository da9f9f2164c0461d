/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libdapl_embedded has pointed libdat2 to the embedded rails before libdat2's
 * constructor ran; this one runs after it and restores the environment.
 */
#include "providers/embedded/embedded.h"

__attribute__((constructor)) static void library_init(void)
{
    dapl_embedded_done();
}
