/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/rdma.h"

int rdma_post_several(struct rdma *r, const struct completion *done,
                      const uint32_t *immed)
{
    static const struct completion nobody;
    const struct completion *seen = r->most < PART_LEAST ? NULL : &nobody;
    struct dto d = r->dto;
    d.local.virtual_address += r->posted;
    d.remote.virtual_address += r->posted;
    for (;;) {
        size_t left = r->bytes - r->posted;
        size_t part = left < r->most ? left : r->most;
        bool last = part == left;
        d.local.segment_length = d.remote.segment_length = (DAT_SEG_LENGTH)part;
        int rc = last && immed ? link_write_immed(r->link, &d, *immed, done)
                               : link_post(r->link, &d, last ? done : seen);
        if (rc)
            return rc;
        if (last)
            break;
        /* if the message leaves only after the part */
        if (r->told && seen)
            link_send_progress(r->link);
        r->posted += part;
        d.local.virtual_address += part;
        d.remote.virtual_address += part;
    }
    r->posted = 0;
    return 0;
}
