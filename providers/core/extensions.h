/* SPDX-License-Identifier: BSD-3-Clause */
/* Extensions of DAT that the shm and ofi providers offer. Each has a
 * provider-specific attribute, by which a consumer finds it. */
#ifndef DAPL_CORE_EXTENSIONS_H
#define DAPL_CORE_EXTENSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <dat2/udat.h>

/* The value of a provider-specific attribute of an IA or EP; NULL: it has none
 * of this name. */
static inline const char *dapl_attribute(const DAT_NAMED_ATTR *all,
                                         DAT_COUNT count, const char *name)
{
    for (DAT_COUNT i = 0; all && i < count; i++)
        if (all[i].name && !strcmp(all[i].name, name))
            return all[i].value;
    return NULL;
}

/* The same, of what dat_ia_query() has told of an IA's provider. */
static inline const char *dapl_provider_attribute(const DAT_PROVIDER_ATTR *attr,
                                                  const char *name)
{
    return dapl_attribute(attr->provider_specific_attr,
                          attr->num_provider_specific_attr, name);
}

/*
 * Inline sends. With this flag of dat_ep_post_send() the segments may lie in
 * any memory of the caller. The provider has copied them when the call returns,
 * as verbs do with IBV_SEND_INLINE. It ignores their lmr_context.
 * DAT_INSUFFICIENT_RESOURCES: there is no room for the bytes, not even a few
 * microseconds later; without the flag the send waits for room.
 *
 * The value of the attribute is the most bytes of such a send.
 */
#define DAPL_MAX_INLINE_SEND  "max_inline_send"
#define DAPL_SEND_INLINE_FLAG 0x10000

/*
 * Growing sends. The provider may hold a send with DAPL_SEND_GROWS_FLAG for a
 * moment: at most until the consumer polls, posts another request on the EP, or
 * a few ms have passed. Until then dat_ep_post_send() with
 * DAPL_SEND_APPEND_FLAG makes it longer. This call has one segment, of the same
 * LMR, which begins where the send ends; it is no request of its own.
 * DAT_INSUFFICIENT_RESOURCES: the send is not held, and stays as it is.
 *
 * The value of the attribute is "TRUE".
 */
#define DAPL_GROWING_SENDS    "growing_sends"
#define DAPL_SEND_GROWS_FLAG  0x20000
#define DAPL_SEND_APPEND_FLAG 0x40000

/*
 * Placed receives. A message that arrives during the consumer's own
 * dat_evd_dequeue() need not go to its receive: the provider puts the first
 * head_bytes of it there, then calls place(). The other bytes go to the address
 * that this returns, which need not be registered; or, if it returns NULL, to
 * the receive. dat_evd_dequeue() then returns the event of this message.
 *
 * place() runs in the thread of dat_evd_dequeue() and must not call DAT. The
 * provider may leave the call out, and does so for short messages. The value of
 * the attribute is "TRUE".
 */
#define DAPL_PLACES_RECEIVES "places_receives"
#define DAPL_PLACE_OP        ((DAT_EXTENDED_OP)0x10001)

/* cookie: the receive's. bytes: length of the whole message. */
typedef void *(*dapl_place_t)(DAT_DTO_COOKIE cookie, size_t bytes);

/* Sets the function of an EP that is not connected; NULL: none. */
static inline DAT_RETURN dapl_place(DAT_EP_HANDLE ep, DAT_COUNT head_bytes,
                                    dapl_place_t place)
{
    return dat_extension_op(ep, DAPL_PLACE_OP, head_bytes, place);
}

/*
 * Counted writes. With this flag of dat_ep_post_rdma_write() the peer's EP
 * counts the write as soon as all its bytes are in the peer's memory. (It does
 * not count a write of 0 bytes.) Writes arrive in order. So when a connection
 * is lost, dapl_writes_counted() tells the peer which of them have arrived.
 *
 * The value of the attribute is "TRUE".
 */
#define DAPL_COUNTED_WRITES     "counted_writes"
#define DAPL_WRITE_COUNTED_FLAG 0x80000
#define DAPL_WRITES_COUNTED_OP  ((DAT_EXTENDED_OP)0x10002)

/* The writes of the EP's connection. The count stays when that has ended, until
 * the EP is reset or freed; from its last event on it does not change. */
static inline DAT_RETURN dapl_writes_counted(DAT_EP_HANDLE ep,
                                             DAT_UINT64 *count)
{
    return dat_extension_op(ep, DAPL_WRITES_COUNTED_OP, count);
}

/*
 * Attempts to free an LMR. dat_lmr_free() waits up to a second for a peer that
 * may still access the memory. This call does not wait: it returns
 * DAT_INVALID_STATE, and asks the peer. From then on, no peer can begin an
 * access; a later call frees the LMR when the peer has answered.
 *
 * Each provider of this project has it. The value of the attribute is "TRUE".
 */
#define DAPL_LMR_TRY_FREE    "lmr_try_free"
#define DAPL_LMR_TRY_FREE_OP ((DAT_EXTENDED_OP)0x10004)

static inline DAT_RETURN dapl_lmr_try_free(DAT_LMR_HANDLE lmr)
{
    return dat_extension_op(lmr, DAPL_LMR_TRY_FREE_OP);
}

/*
 * Synchronous RDMA. With this flag of dat_ep_post_rdma_write() and _read(), the
 * request is complete when the call returns DAT_SUCCESS: all bytes have moved,
 * and there is no event. Any other return: the request can't complete in the
 * call, because an earlier one is unfinished, or it would fail. Then it is not
 * posted; without the flag it waits, or fails with an event.
 *
 * The attribute also says that the calling thread moves the bytes. Its value is
 * "TRUE".
 */
#define DAPL_SYNC_RDMA      "sync_rdma"
#define DAPL_RDMA_SYNC_FLAG 0x100000

/*
 * Direct messages: functions of the provider for short messages between
 * consumers that poll, and for writes. They are called without libdat2, and
 * check no handle and no flag. What they do not carry goes the usual way, so a
 * consumer tries them first.
 *
 * send() posts the head and the bytes behind it as one inline send, whose
 * completion is suppressed. The cookie is for the event of an error. False: the
 * request can't be carried out at once; it is not posted.
 *
 * take() looks up to `polls` times (1 or more) for the next message of the EP,
 * and calls take_message() once if there is one. True: the consumer has copied
 * it. It has no event, and the EP's oldest receive stays posted, as if it had
 * been posted anew. False: dat_evd_dequeue() finds the message. take() looks
 * for no message while an event waits in the EP's receive EVD, which is older.
 *
 * write() writes the bytes to the peer's memory, as one RDMA write whose
 * completion is suppressed. The local memory need not be registered; the peer's
 * range is checked. True: the write is complete. False: it is not, as where a
 * request of the EP is unfinished; dat_ep_post_rdma_write() does it, or tells
 * what is wrong. Threads that write and post on an EP take turns.
 *
 * The peer may change the message while take_message() reads it, so this reads
 * each byte once. It must not call DAT. One thread at a time calls take() and
 * posts receives on the EP, and no other one polls its receive EVD meanwhile.
 *
 * The value of the attribute is "TRUE".
 */
#define DAPL_DIRECT_MESSAGES "direct_messages"
#define DAPL_DIRECT_OP       ((DAT_EXTENDED_OP)0x10005) /* 3 had no write() */

typedef bool (*dapl_take_message_t)(void *context, const void *message,
                                    size_t bytes);

struct dapl_direct {
    bool (*send)(DAT_EP_HANDLE ep, const void *head, size_t head_bytes,
                 const void *body, size_t bytes, DAT_DTO_COOKIE cookie);
    bool (*take)(DAT_EP_HANDLE ep, unsigned polls,
                 dapl_take_message_t take_message, void *context);
    bool (*write)(DAT_EP_HANDLE ep, const void *local, size_t bytes,
                  DAT_RMR_CONTEXT key, DAT_VADDR remote);
};

/* Sets *direct to the functions for the EPs of this EP's IA. They stay as long
 * as the IA is open. */
static inline DAT_RETURN dapl_direct(DAT_EP_HANDLE ep,
                                     const struct dapl_direct **direct)
{
    return dat_extension_op(ep, DAPL_DIRECT_OP, direct);
}

#endif
