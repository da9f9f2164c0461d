/* SPDX-License-Identifier: BSD-3-Clause */
/* An accepted post reaches the receiver without another DAT call of its poster,
 * as with an adapter. After its posts, the poster only looks at its memory,
 * which the receiver writes when it has received everything. */
#include "peer.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <netinet/in.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <dat2/dat_ib_extensions.h>

#define BYTES (1 << 20)
#define FLAG  (BYTES - 8) /* where the poster's memory tells that all came */

/* An end of IA @p name with queues of this depth. */
static void open_deep(end_t *end, const char *name, DAT_COUNT depth,
                      memory_kind_t kind)
{
    DAT_EP_PARAM param;
    end_open_on(end, name, NULL);
    DAT_OK(dat_ep_query(end->ep, DAT_EP_FIELD_ALL, &param));
    param.ep_attr.max_recv_dtos = param.ep_attr.max_request_dtos = depth;
    DAT_OK(dat_ep_modify(end->ep,
                         DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS |
                             DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS,
                         &param));
    DAT_OK(dat_evd_resize(end->recv, 2 * depth));
    DAT_OK(dat_evd_resize(end->request, 2 * depth));
    region_create(&end->mem, kind, BYTES, end->ia, end->pz,
                  DAT_MEM_PRIV_ALL_FLAG);
    memset(end->mem.data, 0, BYTES);
}

typedef struct pair {
    end_t a, b; /* a posts */
} pair_t;

static void open_pair(pair_t *p, const char *name, DAT_COUNT depth,
                      memory_kind_t kind)
{
    open_deep(&p->a, name, depth, kind);
    open_deep(&p->b, name, depth, kind);
    end_connect_both(&p->a, &p->b);
    fill(p->a.mem.data, FLAG, 4);
}

static void close_pair(pair_t *p)
{
    ends_close(&p->a, &p->b);
}

/* Receives go round b's memory, sends start anywhere in a's. */
static size_t place(uint64_t i, size_t bytes)
{
    return i % (FLAG / bytes) * bytes;
}
static size_t source(uint64_t i, size_t bytes)
{
    return i * 13 % (FLAG - bytes);
}

static void post_receives(end_t *b, DAT_EP_HANDLE ep, uint64_t n, size_t bytes)
{
    for (uint64_t i = 0; i < n; i++) {
        DAT_LMR_TRIPLET in = local(&b->mem, place(i, bytes), bytes);
        DAT_OK(dat_ep_post_recv(ep, 1, &in, cookie(i), 0));
    }
}

static void post_sends(end_t *a, DAT_EP_HANDLE ep, uint64_t n, size_t bytes)
{
    for (uint64_t i = 0; i < n; i++) {
        DAT_LMR_TRIPLET out = local(&a->mem, source(i, bytes), bytes);
        DAT_OK(dat_ep_post_send(ep, 1, &out, cookie(i), 0));
    }
}

static void expect_content(pair_t *p, uint64_t i, size_t bytes)
{
    assert_memory_equal(p->b.mem.data + place(i, bytes),
                        p->a.mem.data + source(i, bytes), bytes);
}

/* b tells a by an RDMA write, a sees it without a DAT call. */
static void tell(end_t *b, DAT_EP_HANDLE ep, end_t *a)
{
    DAT_LMR_TRIPLET out = local(&b->mem, FLAG, 8);
    DAT_RMR_TRIPLET to = remote(&a->mem, FLAG, 8);
    memset(b->mem.data + FLAG, 1, 8);
    DAT_OK(dat_ep_post_rdma_write(ep, 1, &out, cookie(0), &to, 0));
    EXPECT_DTO(b->request, 0, DAT_DTO_SUCCESS, 8);
    assert_memory_equal(a->mem.data + FLAG, b->mem.data + FLAG, 8);
}

static bool tracing = true; /* process_vm_readv and _writev are permitted */

static void all_arrive(const char *name, memory_kind_t kind, DAT_COUNT depth,
                       uint64_t n, size_t bytes)
{
    pair_t p;
    open_pair(&p, name, depth, kind);
    post_receives(&p.b, p.b.ep, n, bytes);
    post_sends(&p.a, p.a.ep, n, bytes);
    for (uint64_t i = 0; i < n; i++) {
        EXPECT_DTO(p.b.recv, i, DAT_DTO_SUCCESS, bytes);
        if (i + FLAG / bytes >= n) /* not yet written over */
            expect_content(&p, i, bytes);
    }
    if (kind == MEMORY_MEMFD || tracing)
        tell(&p.b, p.b.ep, &p.a);
    for (uint64_t i = 0; i < n; i++)
        EXPECT_DTO(p.a.request, i, DAT_DTO_SUCCESS, bytes);
    close_pair(&p);
}

static void short_sends(void **state)
{
    for (int kind = 0; kind < MEMORY_KINDS; kind++)
        all_arrive(IA_NAME, (memory_kind_t)kind, 256, 64, 1088);
}

static void whole_depth(void **state)
{
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        all_arrive(IA_NAME, (memory_kind_t)kind, 4096, 4096, 8);
        all_arrive(IA_NAME, (memory_kind_t)kind, 4096, 4096, 600);
    }
}

static void long_sends(void **state)
{
    for (int kind = 0; kind < MEMORY_KINDS; kind++)
        all_arrive(IA_NAME, (memory_kind_t)kind, 1024, 1024, 9000);
}

static void modelled_rail(void **state)
{
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        all_arrive("ultra24-a0", (memory_kind_t)kind, 1024, 1000, 100);
        all_arrive("ultra24-a0", (memory_kind_t)kind, 1024, 600, 9000);
    }
}

/* The poster in a process of its own, which looks at nothing but memory. */
typedef struct meeting {
    DAT_CONN_QUAL qual;
} meeting_t;

static void lone_poster(void *arg)
{
    const meeting_t *meeting = arg;
    end_t a;
    open_deep(&a, IA_NAME, 256, MEMORY_MALLOC);
    DAT_OK(end_connect(&a, meeting->qual));
    EXPECT_EVENT(a.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    /* where to write comes first */
    DAT_RMR_TRIPLET flag = remote(&a.mem, FLAG, 8);
    memcpy(a.mem.data, &flag, sizeof flag);
    post_sends(&a, a.ep, 64, 1088);
    const volatile unsigned char *word = a.mem.data + FLAG;
    for (int waited = 0; !*word && waited < WAIT_MS; waited++)
        poll_pause();
    assert_true(*word);
    end_close(&a);
}

static void poster_in_another_process(void **state)
{
    int gate[2];
    meeting_t *meeting = shared_memory(sizeof *meeting);
    assert_int_equal(pipe(gate), 0);
    pid_t pid = spawn_behind(gate, lone_poster, meeting);
    close(gate[0]);
    end_t b;
    open_deep(&b, IA_NAME, 256, MEMORY_MALLOC);
    meeting->qual = b.qual;
    post_receives(&b, b.ep, 64, 1088);
    close(gate[1]);
    end_accept(&b);
    for (uint64_t i = 0; i < 64; i++)
        EXPECT_DTO(b.recv, i, DAT_DTO_SUCCESS, 1088);
    DAT_RMR_TRIPLET flag;
    memcpy(&flag, b.mem.data, sizeof flag);
    DAT_LMR_TRIPLET out = local(&b.mem, 0, 8);
    memset(b.mem.data, 1, 8);
    DAT_OK(dat_ep_post_rdma_write(b.ep, 1, &out, cookie(0), &flag, 0));
    join(pid);
    EXPECT_EVENT(b.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    end_close(&b);
    shared_free(meeting, sizeof *meeting);
}

/* Several endpoints report to one EVD, on both sides. */
static void several_endpoints(void **state)
{
    enum { EPS = 4, N = 100, EACH = 1000 };
    end_t a, b;
    DAT_EP_HANDLE from[EPS], to[EPS];
    uint64_t next[EPS] = {0};
    open_deep(&a, IA_NAME, 1024, MEMORY_MALLOC);
    open_deep(&b, IA_NAME, 1024, MEMORY_MALLOC);
    end_connect_both(&a, &b);
    from[0] = a.ep, to[0] = b.ep;
    for (int e = 1; e < EPS; e++) {
        DAT_OK(
            dat_ep_create(a.ia, a.pz, a.recv, a.request, a.conn, NULL, &a.ep));
        DAT_OK(
            dat_ep_create(b.ia, b.pz, b.recv, b.request, b.conn, NULL, &b.ep));
        end_connect_both(&a, &b);
        from[e] = a.ep, to[e] = b.ep;
    }
    for (int e = 0; e < EPS; e++) {
        post_receives(&b, to[e], N, EACH);
        post_sends(&a, from[e], N, EACH);
    }
    for (int i = 0; i < EPS * N; i++) {
        DAT_EVENT event = EXPECT_EVENT(b.recv, DAT_DTO_COMPLETION_EVENT);
        DAT_DTO_COMPLETION_EVENT_DATA *dto =
            &event.event_data.dto_completion_event_data;
        int e = 0;
        while (e < EPS && to[e] != dto->ep_handle)
            e++;
        assert_true(e < EPS);
        assert_int_equal(dto->status, DAT_DTO_SUCCESS);
        assert_int_equal(dto->user_cookie.as_64, next[e]++);
    }
    tell(&b, to[0], &a);
    for (int e = 1; e < EPS; e++) {
        DAT_OK(dat_ep_free(from[e]));
        DAT_OK(dat_ep_free(to[e]));
    }
    a.ep = from[0], b.ep = to[0];
    ends_close(&a, &b);
}

/* Short and long sends, RDMA writes, and writes with immediate data: what
 * arrives is in the order of posting, and a write is there before what was
 * posted after it. */
static void mixed_in_order(void **state)
{
    enum { N = 400, PART = 1500 };
    pair_t p;
    open_pair(&p, IA_NAME, 1024, MEMORY_MALLOC);
    size_t half = FLAG / 2, target = half / 8 * 8;
    for (uint64_t i = 0; i < N; i++) {
        DAT_LMR_TRIPLET in = local(&p.b.mem, i % 40 * 12000, 12000);
        DAT_OK(dat_ep_post_recv(p.b.ep, 1, &in, cookie(i), 0));
    }
    for (uint64_t i = 0; i < N; i++) {
        DAT_LMR_TRIPLET out = local(&p.a.mem, 8 * i, i % 5 ? PART : 12000);
        DAT_LMR_TRIPLET word = local(&p.a.mem, 8 * i, 8);
        DAT_RMR_TRIPLET to = remote(&p.b.mem, target + 8 * i, 8);
        if (i % 3) {
            DAT_OK(dat_ep_post_rdma_write(p.a.ep, 1, &word, cookie(i), &to,
                                          DAT_COMPLETION_SUPPRESS_FLAG));
            DAT_OK(dat_ep_post_send(p.a.ep, 1, &out, cookie(i), 0));
        } else {
            DAT_OK(dat_ib_post_rdma_write_immed(p.a.ep, 1, &word, cookie(i),
                                                &to, (DAT_UINT32)i, 0));
        }
    }
    for (uint64_t i = 0; i < N; i++) {
        DAT_EVENT event =
            EXPECT_EVENT(p.b.recv, i % 3 ? (int)DAT_DTO_COMPLETION_EVENT
                                         : (int)DAT_IB_DTO_EVENT);
        DAT_DTO_COMPLETION_EVENT_DATA *dto =
            &event.event_data.dto_completion_event_data;
        assert_int_equal(dto->status, DAT_DTO_SUCCESS);
        assert_int_equal(dto->user_cookie.as_64, i);
        assert_memory_equal(p.b.mem.data + target + 8 * i, p.a.mem.data + 8 * i,
                            8);
        if (i % 3)
            assert_int_equal(dto->transfered_length, i % 5 ? PART : 12000);
    }
    tell(&p.b, p.b.ep, &p.a);
    close_pair(&p);
}

static void shared_receive_queue(void **state)
{
    enum { N = 200, EACH = 1000 };
    end_t a, b;
    DAT_SRQ_HANDLE srq;
    DAT_SRQ_ATTR attr = {N, 4, DAT_SRQ_LW_DEFAULT};
    open_deep(&a, IA_NAME, 256, MEMORY_MALLOC);
    open_deep(&b, IA_NAME, 256, MEMORY_MALLOC);
    DAT_OK(dat_srq_create(b.ia, b.pz, &attr, &srq));
    DAT_OK(dat_ep_free(b.ep));
    DAT_OK(dat_ep_create_with_srq(b.ia, b.pz, b.recv, b.request, b.conn, srq,
                                  NULL, &b.ep));
    end_connect_both(&a, &b);
    for (uint64_t i = 0; i < N; i++) {
        DAT_LMR_TRIPLET in = local(&b.mem, i * EACH, EACH);
        DAT_OK(dat_srq_post_recv(srq, 1, &in, cookie(i)));
    }
    post_sends(&a, a.ep, N, EACH);
    for (uint64_t i = 0; i < N; i++)
        EXPECT_DTO(b.recv, i, DAT_DTO_SUCCESS, EACH);
    tell(&b, b.ep, &a);
    DAT_OK(dat_ep_free(b.ep));
    b.ep = DAT_HANDLE_NULL;
    DAT_OK(dat_srq_free(srq));
    ends_close(&a, &b);
}

/* ---------------------------------------- memory that peers can't read --- */

/* Where tracing is not permitted: no process_vm_readv, no process_vm_writev. */
static void forbid_tracing(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    tracing = false;
}

/* Shared memory needs no tracing, very short sends neither. */
static void without_tracing(void *arg)
{
    forbid_tracing();
    all_arrive(IA_NAME, MEMORY_MEMFD, 4096, 4096, 600);
    all_arrive(IA_NAME, MEMORY_MEMFD, 1024, 1024, 9000);
    all_arrive(IA_NAME, MEMORY_MALLOC, 4096, 4096, 64);

    /* private memory: they wait for the poster, and arrive in order */
    enum { N = 200, EACH = 1000 };
    pair_t p;
    open_pair(&p, IA_NAME, 256, MEMORY_MALLOC);
    post_receives(&p.b, p.b.ep, N, EACH);
    post_sends(&p.a, p.a.ep, N, EACH);
    for (uint64_t i = 0, done = 0; i < N; i++) {
        DAT_EVENT event;
        int tries = 0;
        while (dat_evd_dequeue(p.b.recv, &event) != DAT_SUCCESS) {
            assert_true(tries++ < 100000);
            while (dat_evd_dequeue(p.a.request, &event) == DAT_SUCCESS)
                done++;
        }
        assert_int_equal(
            event.event_data.dto_completion_event_data.user_cookie.as_64, i);
        assert_int_equal(event.event_data.dto_completion_event_data.status,
                         DAT_DTO_SUCCESS);
        expect_content(&p, i, EACH);
        assert_true(done <= N);
    }
    close_pair(&p);
}

static void tracing_is_forbidden(void **state)
{
    join(spawn(without_tracing, NULL));
}

/* The poster frees memory that sends which wait for it would be read from: they
 * fail, and the new content never arrives. */
static void freed_while_it_waits(void *arg)
{
    enum { N = 800, EACH = 1000 }; /* more than the ring holds */
    pair_t p;
    forbid_tracing();
    open_pair(&p, IA_NAME, 1024, MEMORY_MALLOC);
    post_sends(&p.a, p.a.ep, N, EACH);
    DAT_OK(dat_lmr_free(p.a.mem.lmr));
    p.a.mem.lmr = DAT_HANDLE_NULL;
    region_destroy(&p.a.mem);

    post_receives(&p.b, p.b.ep, N, EACH);
    uint64_t sent = 0, failed = 0;
    for (uint64_t i = 0; i < N; i++) {
        DAT_EVENT event = EXPECT_EVENT(p.a.request, DAT_DTO_COMPLETION_EVENT);
        DAT_DTO_COMPLETION_EVENT_DATA *dto =
            &event.event_data.dto_completion_event_data;
        assert_int_equal(dto->user_cookie.as_64, i);
        sent += dto->status == DAT_DTO_SUCCESS;
        failed += dto->status == DAT_DTO_ERR_LOCAL_PROTECTION;
    }
    assert_true(failed && sent + failed <= N);
    EXPECT_EVENT(p.a.conn, DAT_CONNECTION_EVENT_BROKEN);
    close_pair(&p);
}

static void memory_freed_meanwhile(void **state)
{
    join(spawn(freed_while_it_waits, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracing_is_forbidden), /* forks: before any DAT call */
        cmocka_unit_test(memory_freed_meanwhile),
        cmocka_unit_test(poster_in_another_process),
        cmocka_unit_test(short_sends),
        cmocka_unit_test(whole_depth),
        cmocka_unit_test(long_sends),
        cmocka_unit_test(modelled_rail),
        cmocka_unit_test(several_endpoints),
        cmocka_unit_test(mixed_in_order),
        cmocka_unit_test(shared_receive_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
