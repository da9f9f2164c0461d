/* SPDX-License-Identifier: BSD-3-Clause */
/* Cancelled threads: a call of the provider that has begun is completed, and no
 * lock stays taken. */
#include "peer.h"

#include <netinet/in.h>
#include <pthread.h>
#include <unistd.h>

#include <dat2/dat_ib_extensions.h>

#define BYTES 262144 /* a send of so many is fetched */
#define PRIVILEGES                                                             \
    ((DAT_MEM_PRIV_FLAGS)(DAT_MEM_PRIV_ALL_FLAG |                              \
                          (int)DAT_IB_MEM_PRIV_REMOTE_ATOMIC))

typedef struct scene {
    end_t me, other;
    DAT_RETURN result;
    void (*call)(struct scene *s);
} scene_t;

static void *to_be_cancelled(void *arg)
{
    scene_t *s = arg;
    pthread_cancel(pthread_self());
    s->call(s);
    pthread_testcancel();
    return NULL;
}

/* The call is made to its end, and then the thread is cancelled. */
static void call_cancelled(scene_t *s, void (*call)(scene_t *s))
{
    pthread_t thread;
    void *how;
    s->call = call;
    s->result = DAT_INTERNAL_ERROR; /* it never came to its end */
    assert_int_equal(pthread_create(&thread, NULL, to_be_cancelled, s), 0);
    assert_int_equal(pthread_join(thread, &how), 0);
    DAT_OK(s->result);
    assert_ptr_equal(how, PTHREAD_CANCELED);
}

/* Where a lock is left behind, what follows waits for it: not for ever. */
static void begin(scene_t *s, memory_kind_t kind)
{
    alarm(WAIT_MS / 1000);
    end_open_memory(&s->me, kind, BYTES, PRIVILEGES);
    end_open_memory(&s->other, kind, BYTES, PRIVILEGES);
}

static void end_scene(scene_t *s)
{
    ends_close(&s->me, &s->other);
    alarm(0);
}

/* ------------------- memory not yet mapped, or reached by the peer's pid ---
 */

static void send_long(scene_t *s)
{
    DAT_LMR_TRIPLET in = local(&s->other.mem, 0, BYTES);
    DAT_LMR_TRIPLET out = local(&s->me.mem, 0, BYTES);
    end_connect_both(&s->me, &s->other);
    DAT_OK(dat_ep_post_recv(s->other.ep, 1, &in, cookie(1), 0));
    DAT_OK(dat_ep_post_send(s->me.ep, 1, &out, cookie(1), 0));
}

static void wait_for_it(scene_t *s)
{
    DAT_EVENT event;
    DAT_COUNT more;
    s->result = dat_evd_wait(s->other.recv, WAIT_MS * 1000, 1, &event, &more);
}

static void dequeue_it(scene_t *s)
{
    DAT_EVENT event;
    s->result = dat_evd_dequeue(s->other.recv, &event);
}

static void fetching(void **state)
{
    if (strcmp(IA_NAME, IA_DEFAULT))
        skip(); /* the IA's thread does it */
    static void (*const call[])(scene_t *) = {wait_for_it, dequeue_it};
    for (int i = 0; i < 2 * MEMORY_KINDS; i++) {
        scene_t s;
        begin(&s, (memory_kind_t)(i / 2));
        send_long(&s);
        call_cancelled(&s, call[i % 2]);
        EXPECT_DTO(s.me.request, 1, DAT_DTO_SUCCESS, BYTES);
        end_scene(&s);
    }
}

static void write_it(scene_t *s)
{
    DAT_LMR_TRIPLET out = local(&s->me.mem, 0, BYTES);
    DAT_RMR_TRIPLET to = remote(&s->other.mem, 0, BYTES);
    s->result = dat_ep_post_rdma_write(s->me.ep, 1, &out, cookie(2), &to, 0);
}

static void add_it(scene_t *s)
{
    DAT_LMR_TRIPLET old = local(&s->me.mem, 0, 8);
    DAT_RMR_TRIPLET word = remote(&s->other.mem, 0, 8);
    s->result =
        dat_ib_post_fetch_and_add(s->me.ep, 1, &old, cookie(2), &word, 0);
}

static void accessing(void (*call)(scene_t *s), DAT_EVENT_NUMBER done)
{
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        scene_t s;
        begin(&s, (memory_kind_t)kind);
        end_connect_both(&s.me, &s.other);
        call_cancelled(&s, call);
        EXPECT_EVENT(s.me.request, done);
        call(&s); /* nothing was left locked */
        DAT_OK(s.result);
        EXPECT_EVENT(s.me.request, done);
        end_scene(&s);
    }
}

static void writing(void **state)
{
    accessing(write_it, DAT_DTO_COMPLETION_EVENT);
}

static void adding(void **state)
{
    NEEDS_ATOMICS();
    accessing(add_it, (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT);
}

/* ---------------------------------------------------- set up, taken down ---
 */

static void register_it(scene_t *s)
{
    region_t *r = &s->me.mem;
    DAT_REGION_DESCRIPTION what = {.for_va = r->data};
    DAT_VLEN length;
    DAT_VADDR address;
    s->result =
        dat_lmr_create(s->me.ia, DAT_MEM_TYPE_VIRTUAL, what, BYTES, s->me.pz,
                       DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &r->lmr,
                       &r->lmr_context, &r->rmr_context, &length, &address);
}

static void unregister_it(scene_t *s)
{
    s->result = dat_lmr_free(s->me.mem.lmr);
}

static void connect_it(scene_t *s)
{
    s->result = end_connect(&s->me, s->other.qual);
}

static void disconnect_it(scene_t *s)
{
    s->result = dat_ep_disconnect(s->me.ep, DAT_CLOSE_GRACEFUL_FLAG);
}

static void free_it(scene_t *s)
{
    s->result = dat_ep_free(s->me.ep);
}

static void free_service(scene_t *s)
{
    s->result = dat_psp_free(s->me.psp);
}

static void setting_up(void **state)
{
    scene_t s;
    begin(&s, MEMORY_MEMFD);
    call_cancelled(&s, unregister_it);
    call_cancelled(&s, register_it);
    call_cancelled(&s, connect_it);
    end_accept(&s.other);
    EXPECT_EVENT(s.me.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    call_cancelled(&s, disconnect_it);
    EXPECT_EVENT(s.other.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    call_cancelled(&s, free_it);
    s.me.ep = DAT_HANDLE_NULL;
    call_cancelled(&s, free_service);
    s.me.psp = DAT_HANDLE_NULL;
    end_scene(&s);
}

static void open_one(scene_t *s)
{
    s->me.async = DAT_HANDLE_NULL;
    s->result = dat_ia_open((DAT_NAME_PTR)IA_NAME, 16, &s->me.async, &s->me.ia);
}

static void close_it(scene_t *s)
{
    s->result = dat_ia_close(s->me.ia, DAT_CLOSE_ABRUPT_FLAG);
}

static void opening_and_closing(void **state)
{
    scene_t s = {0};
    alarm(WAIT_MS / 1000);
    call_cancelled(&s, open_one);
    DAT_OK(
        dat_evd_create(s.me.ia, 4, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &s.me.cr));
    DAT_OK(dat_psp_create_any(s.me.ia, &s.me.qual, s.me.cr,
                              DAT_PSP_CONSUMER_FLAG, &s.me.psp));
    call_cancelled(&s, close_it);
    alarm(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fetching),
        cmocka_unit_test(writing),
        cmocka_unit_test(adding),
        cmocka_unit_test(setting_up),
        cmocka_unit_test(opening_and_closing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
