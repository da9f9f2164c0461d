/* SPDX-License-Identifier: BSD-3-Clause */
/* Many endpoints on one EVD, several threads on one IA, full EVDs, and more
 * processes than cores. */
#include "peer.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* ------------------------------------------- many endpoints, one queue --- */

enum { EPS = 64, ROUNDS = 50 };

/* An echo client of many connections, all of them served by three EVDs. */
static void echo_client(void *arg)
{
    const DAT_CONN_QUAL *qual = arg;
    end_t end;
    DAT_EP_HANDLE ep[EPS];
    DAT_IA_ATTR attr;
    end_open_memory(&end, MEMORY_MALLOC, EPS * 256, DAT_MEM_PRIV_ALL_FLAG);
    DAT_OK(dat_ia_query(end.ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
    for (uint64_t i = 0; i < EPS; i++) {
        DAT_LMR_TRIPLET in = local(&end.mem, i * 256, 256);
        DAT_OK(dat_ep_create(end.ia, end.pz, end.recv, end.request, end.conn,
                             NULL, &ep[i]));
        DAT_OK(dat_ep_post_recv(ep[i], 1, &in, cookie(i), 0));
        DAT_OK(dat_ep_connect(ep[i], attr.ia_address_ptr, *qual, WAIT_MS * 1000,
                              0, NULL, DAT_QOS_BEST_EFFORT,
                              DAT_CONNECT_DEFAULT_FLAG));
    }
    for (int i = 0; i < EPS; i++)
        EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    for (int n = 0; n < EPS * ROUNDS; n++) {
        DAT_EVENT event = EXPECT_EVENT(end.recv, DAT_DTO_COMPLETION_EVENT);
        DAT_DTO_COMPLETION_EVENT_DATA *dto =
            &event.event_data.dto_completion_event_data;
        uint64_t i = dto->user_cookie.as_64;
        assert_int_equal(dto->status, DAT_DTO_SUCCESS);
        assert_ptr_equal(dto->ep_handle, ep[i]);
        DAT_LMR_TRIPLET out = local(&end.mem, i * 256, dto->transfered_length);
        DAT_LMR_TRIPLET in = local(&end.mem, i * 256, 256);
        DAT_OK(dat_ep_post_send(ep[i], 1, &out, cookie(i), 0));
        EXPECT_DTO(end.request, i, DAT_DTO_SUCCESS, dto->transfered_length);
        DAT_OK(dat_ep_post_recv(ep[i], 1, &in, cookie(i), 0));
    }
    for (int i = 0; i < EPS; i++)
        EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    for (int i = 0; i < EPS; i++)
        DAT_OK(dat_ep_free(ep[i]));
    end_close(&end);
}

static void send_and_expect(end_t *end, DAT_EP_HANDLE ep, uint64_t i,
                            uint64_t round)
{
    DAT_LMR_TRIPLET out = local(&end->mem, i * 512, 1 + (i + round) % 256);
    DAT_LMR_TRIPLET in = local(&end->mem, i * 512 + 256, 256);
    DAT_OK(dat_ep_post_recv(ep, 1, &in, cookie(i), 0));
    DAT_OK(
        dat_ep_post_send(ep, 1, &out, cookie(i), DAT_COMPLETION_SUPPRESS_FLAG));
}

static void many_endpoints(void **state)
{
    end_t end;
    DAT_EP_HANDLE ep[EPS];
    int gate[2];
    DAT_CONN_QUAL *qual = shared_memory(sizeof *qual);
    assert_int_equal(pipe(gate), 0);
    pid_t pid = spawn_behind(gate, echo_client, qual);
    close(gate[0]);
    end_open_memory(&end, MEMORY_MALLOC, EPS * 512, DAT_MEM_PRIV_ALL_FLAG);
    *qual = end.qual;
    close(gate[1]);
    for (int i = 0; i < EPS; i++) {
        DAT_CR_HANDLE cr = end_asked(&end);
        DAT_OK(dat_ep_create(end.ia, end.pz, end.recv, end.request, end.conn,
                             NULL, &ep[i]));
        DAT_OK(dat_cr_accept(cr, ep[i], 0, NULL));
    }
    for (int i = 0; i < EPS; i++)
        EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        fill(end.mem.data, EPS * 512, round);
        for (uint64_t i = 0; i < EPS; i++)
            send_and_expect(&end, ep[i], i, round);
        for (int n = 0; n < EPS; n++) {
            DAT_EVENT event = EXPECT_EVENT(end.recv, DAT_DTO_COMPLETION_EVENT);
            DAT_DTO_COMPLETION_EVENT_DATA *dto =
                &event.event_data.dto_completion_event_data;
            uint64_t i = dto->user_cookie.as_64;
            size_t bytes = 1 + (i + round) % 256;
            assert_int_equal(dto->status, DAT_DTO_SUCCESS);
            assert_int_equal(dto->transfered_length, bytes);
            assert_memory_equal(end.mem.data + i * 512,
                                end.mem.data + i * 512 + 256, bytes);
        }
    }
    for (int i = 0; i < EPS; i++)
        DAT_OK(dat_ep_disconnect(ep[i], DAT_CLOSE_GRACEFUL_FLAG));
    for (int i = 0; i < EPS; i++)
        EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    for (int i = 0; i < EPS; i++)
        DAT_OK(dat_ep_free(ep[i]));
    join(pid);
    end_close(&end);
    shared_free(qual, sizeof *qual);
}

/* --------------------------------------------- several threads, one IA --- */

enum { THREADS = 4, MESSAGES = 3000 };

/* A thread's own pair of endpoints and queues on the common IA. */
typedef struct lane {
    DAT_EP_HANDLE ep[2];
    DAT_EVD_HANDLE recv[2], request[2], conn[2];
    region_t mem;
    int failures;
} lane_t;

static void lane_open(lane_t *lane, end_t *end, DAT_IA_ADDRESS_PTR address)
{
    region_create(&lane->mem, MEMORY_MALLOC, 8192, end->ia, end->pz,
                  DAT_MEM_PRIV_ALL_FLAG);
    for (int s = 0; s < 2; s++) {
        DAT_OK(dat_evd_create(end->ia, 64, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG,
                              &lane->recv[s]));
        DAT_OK(dat_evd_create(end->ia, 64, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG,
                              &lane->request[s]));
        DAT_OK(dat_evd_create(end->ia, 8, DAT_HANDLE_NULL,
                              DAT_EVD_CONNECTION_FLAG, &lane->conn[s]));
        DAT_OK(dat_ep_create(end->ia, end->pz, lane->recv[s], lane->request[s],
                             lane->conn[s], NULL, &lane->ep[s]));
    }
    DAT_OK(dat_ep_connect(lane->ep[0], address, end->qual, WAIT_MS * 1000, 0,
                          NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
    DAT_OK(dat_cr_accept(end_asked(end), lane->ep[1], 0, NULL));
    EXPECT_EVENT(lane->conn[0], DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_EVENT(lane->conn[1], DAT_CONNECTION_EVENT_ESTABLISHED);
}

static void lane_close(lane_t *lane)
{
    for (int s = 0; s < 2; s++) {
        DAT_OK(dat_ep_free(lane->ep[s]));
        DAT_OK(dat_evd_free(lane->recv[s]));
        DAT_OK(dat_evd_free(lane->request[s]));
        DAT_OK(dat_evd_free(lane->conn[s]));
    }
    region_destroy(&lane->mem);
}

static bool completes(DAT_EVD_HANDLE evd, uint64_t id)
{
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event.event_data.dto_completion_event_data;
    return !dat_evd_wait(evd, WAIT_MS * 1000, 1, &event, &more) &&
           dto->user_cookie.as_64 == id && dto->status == DAT_DTO_SUCCESS;
}

/* Sends, writes and registers memory; counts failures (cmocka's checks are
 * for the main thread only). */
static void *lane_run(void *arg)
{
    lane_t *lane = arg;
    for (uint64_t i = 0; i < MESSAGES; i++) {
        size_t n = i % 2048;
        DAT_LMR_TRIPLET out = local(&lane->mem, 0, n);
        DAT_LMR_TRIPLET in = local(&lane->mem, 4096, 2048);
        DAT_RMR_TRIPLET target = remote(&lane->mem, 2048, n);
        fill(lane->mem.data, n, i);
        bool good =
            !dat_ep_post_recv(lane->ep[1], 1, &in, cookie(i), 0) &&
            !dat_ep_post_rdma_write(lane->ep[0], 1, &out, cookie(i), &target,
                                    DAT_COMPLETION_SUPPRESS_FLAG) &&
            !dat_ep_post_send(lane->ep[0], 1, &out, cookie(i), 0) &&
            completes(lane->recv[1], i) && completes(lane->request[0], i) &&
            !memcmp(lane->mem.data, lane->mem.data + 4096, n) &&
            !memcmp(lane->mem.data, lane->mem.data + 2048, n);
        if (!good)
            lane->failures++;
    }
    return NULL;
}

static void threads_with_their_own_objects(void **state)
{
    end_t end;
    lane_t lane[THREADS] = {0};
    pthread_t thread[THREADS];
    DAT_IA_ATTR attr;
    end_open(&end, NULL);
    DAT_OK(dat_ia_query(end.ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
    for (int i = 0; i < THREADS; i++)
        lane_open(&lane[i], &end, attr.ia_address_ptr);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, lane_run, &lane[i]),
                         0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(lane[i].failures, 0);
        lane_close(&lane[i]);
    }
    end_close(&end);
}

/* ------------------------------------------------------------- overflow --- */

static void evd_overflow_is_told(void **state)
{
    end_t a, b;
    DAT_EVD_HANDLE small;
    DAT_EVD_PARAM evd_param;
    DAT_EP_PARAM param;
    ends_open(&a, &b, MEMORY_MALLOC, 4096);
    DAT_OK(dat_evd_create(b.ia, 4, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &small));
    DAT_OK(dat_evd_query(small, DAT_EVD_FIELD_ALL, &evd_param));
    assert_in_range(evd_param.evd_qlen, 4, 100);
    param.recv_evd_handle = small;
    DAT_OK(dat_ep_modify(b.ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &param));
    end_connect_both(&a, &b);
    for (int i = 0; i <= evd_param.evd_qlen; i++) {
        DAT_LMR_TRIPLET in = local(&b.mem, 0, 64), out = local(&a.mem, 0, 64);
        DAT_OK(dat_ep_post_recv(b.ep, 1, &in, cookie((uint64_t)i), 0));
        DAT_OK(dat_ep_post_send(a.ep, 1, &out, cookie((uint64_t)i), 0));
    }
    DAT_EVENT event = EXPECT_EVENT(b.async, DAT_ASYNC_ERROR_EVD_OVERFLOW);
    assert_ptr_equal(event.event_data.asynch_error_event_data.dat_handle,
                     small);
    DAT_OK(dat_ep_free(b.ep));
    b.ep = NULL;
    DAT_OK(dat_evd_free(small));
    ends_close(&a, &b);
}

/* ------------------------------------------- more processes than cores --- */

enum { PAIRS = 4, PINGS = 2000 };

static void pinger(void *arg)
{
    const DAT_CONN_QUAL *qual = arg;
    end_t end;
    end_open_memory(&end, MEMORY_MALLOC, 4096, DAT_MEM_PRIV_ALL_FLAG);
    DAT_OK(end_connect(&end, *qual));
    EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    for (uint64_t i = 0; i < PINGS; i++) {
        DAT_LMR_TRIPLET iov = local(&end.mem, 0, 8);
        DAT_OK(dat_ep_post_recv(end.ep, 1, &iov, cookie(i), 0));
        DAT_OK(dat_ep_post_send(end.ep, 1, &iov, cookie(i),
                                DAT_COMPLETION_SUPPRESS_FLAG));
        EXPECT_DTO(end.recv, i, DAT_DTO_SUCCESS, 8);
    }
    end_close(&end);
}

static void ponger(void *arg)
{
    DAT_CONN_QUAL *qual = arg;
    end_t end;
    int gate[2];
    assert_int_equal(pipe(gate), 0);
    pid_t pid = spawn_behind(gate, pinger, qual);
    close(gate[0]);
    end_open_memory(&end, MEMORY_MALLOC, 4096, DAT_MEM_PRIV_ALL_FLAG);
    *qual = end.qual;
    DAT_LMR_TRIPLET iov = local(&end.mem, 0, 8);
    DAT_OK(dat_ep_post_recv(end.ep, 1, &iov, cookie(0), 0));
    close(gate[1]);
    end_accept(&end);
    for (uint64_t i = 0; i < PINGS; i++) {
        EXPECT_DTO(end.recv, i, DAT_DTO_SUCCESS, 8);
        DAT_OK(dat_ep_post_recv(end.ep, 1, &iov, cookie(i + 1), 0));
        DAT_OK(dat_ep_post_send(end.ep, 1, &iov, cookie(i),
                                DAT_COMPLETION_SUPPRESS_FLAG));
    }
    join(pid);
    end_close(&end);
}

static void more_processes_than_cores(void **state)
{
    DAT_CONN_QUAL *qual = shared_memory(PAIRS * sizeof *qual);
    pid_t pid[PAIRS];
    for (int i = 0; i < PAIRS; i++)
        pid[i] = spawn(ponger, &qual[i]);
    for (int i = 0; i < PAIRS; i++)
        join(pid[i]);
    shared_free(qual, PAIRS * sizeof *qual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_endpoints),
        cmocka_unit_test(threads_with_their_own_objects),
        cmocka_unit_test(evd_overflow_is_told),
        cmocka_unit_test(more_processes_than_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
