/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/connect/unconnected.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/sentence.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"

struct line {
    char *text;
    size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line,
                                                      const char *format, ...)
{
    va_list args;
    size_t left = line->size - line->used;
    va_start(args, format);
    int n = vsnprintf(line->text + line->used, left, format, args);
    va_end(args);
    line->used += (size_t)n < left ? (size_t)n : left - 1;
}

static bool asks(const struct peer *peer)
{
    return peer->owner->job->rank < peer->rank;
}

/* The step that the first unconnected EP of the rail lacks; NULL: none does. */
static const char *lack_of(const struct peer *peer, unsigned rail)
{
    for (unsigned e = 0; e < peer->owner->cfg.eps; e++) {
        const struct link *link = peer_link(peer, rail, e);
        if (!link)
            return asks(peer) ? "not asked" : "no request";
        if (link->established)
            continue;
        if (link->state != LINK_CONNECTING)
            return sentence_text(link->why);
        if (link->ep.state == EP_NONE)
            return "no request";
        return asks(peer) ? "asked, no answer" : "accepted, not confirmed";
    }
    return NULL;
}

void unconnected_text(const struct peer *peer, char *text, size_t size)
{
    struct line line = {text, size, 0};
    const char *last = "";
    unsigned unanswered =
        peer->solicit.unanswered + (peer->solicit.ep != DAT_HANDLE_NULL);
    add(&line, "%s", "");
    if (unanswered) /* first: a long text is cut */
        add(&line, "asked %u times to be connected, no answer", unanswered);
    for (uint32_t left = peer->rails; left; left &= left - 1) {
        unsigned r = (unsigned)__builtin_ctz(left);
        const char *lack = lack_of(peer, r), *name = peer->owner->names[r];
        if (lack && !strcmp(lack, last))
            add(&line, ", %s", name);
        else if (lack)
            add(&line, "%s%s over %s", line.used ? "; " : "", lack, name);
        last = lack ? lack : last;
    }
}
