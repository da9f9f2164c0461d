/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "coll/run/shrink/shrunk.h"

void shrunk_free(struct shrunk *s)
{
    if (!s)
        return;
    drail_job_leave(s->job);
    if (s->mem)
        drail_mem_release(s->mem); /* else drail_close() does */
    free(s->peers);
    free(s->rank_of);
    free(s->keys);
    free(s->arrived);
    free(s->posted);
    free(s->left);
    free(s);
}
