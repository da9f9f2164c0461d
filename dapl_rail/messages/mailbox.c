/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/messages/mailbox.h"

#include <stdlib.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/messages/eager_put.h"
#include "dapl_rail/messages/message.h"
#include "dapl_rail/messages/note.h"
#include "dapl_rail/messages/remote_atomic.h"

static void mailbox_free(struct mailbox *mail)
{
    if (!mail)
        return;
    free(mail->reading);
    inbox_close(&mail->notes);
    reorder_close(&mail->messages);
    free(mail);
}

static int mailbox_open(struct peer *peer)
{
    drail_t *t = peer->owner;
    unsigned capacity = t->nrails * t->cfg.eps * t->cfg.depth;
    if (peer->mail)
        return 0;
    struct mailbox *mail = calloc(1, sizeof *mail);
    if (!mail || inbox_open(&mail->notes, capacity) ||
        reorder_open(&mail->messages, capacity)) {
        mailbox_free(mail);
        return fail(t, DRAIL_ENOMEM, "out of memory");
    }
    peer->mail = mail;
    return 0;
}

static void mailbox_close(struct peer *peer)
{
    struct mailbox *mail = peer->mail;
    if (!mail)
        return;
    if (mail->reading && mail->reading->mem)
        drail_mem_release(mail->reading->mem);
    mailbox_free(mail);
    peer->mail = NULL;
}

const struct link_handlers mailbox_handlers = {
    .prepare = mailbox_open,
    .release = mailbox_close,
    .arrived =
        {
            [WIRE_NOTIFY] = note_arrived,
            [WIRE_PUT] = eager_put_arrived,
            [WIRE_EAGER] = message_arrived,
            [WIRE_RENDEZVOUS] = message_arrived,
            [WIRE_PIECE] = piece_arrived,
            [WIRE_WITHDRAWN] = message_withdrawn,
            [WIRE_FINISHED] = finished_arrived,
            [WIRE_ATOMIC] = atomic_asked,
            [WIRE_ATOMIC_REPLY] = atomic_answered,
        },
    .noted = note_arrived_immed,
    .place = message_place,
};
