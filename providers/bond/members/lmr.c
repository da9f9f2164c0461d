/* SPDX-License-Identifier: BSD-3-Clause */
/* LMRs of members. */
#include "providers/core/extensions.h"
#include "providers/bond/members/members.h"

bool bond_lmr_free(const struct bond_member *m, DAT_LMR_HANDLE lmr)
{
    return (m->own ? dapl_lmr_try_free(lmr) : dat_lmr_free(lmr)) == DAT_SUCCESS;
}
