/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of an EP: what is asked for and what is granted. */
#include "util.h"

#include <sys/resource.h>

/* More bytes than the IA can do are no reason to refuse an EP: it gets what
 * there is, and its attributes say so. */
static void lengths_are_cut(void **state)
{
    static const DAT_VLEN asked[] = {0, 4096, 1u << 31, UINT64_MAX};
    end_t end;
    DAT_IA_ATTR can;
    end_open(&end, NULL);
    DAT_OK(dat_ia_query(end.ia, NULL, DAT_IA_FIELD_ALL, &can, 0, NULL));
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        DAT_EP_PARAM param;
        DAT_EP_HANDLE ep;
        DAT_OK(dat_ep_query(end.ep, DAT_EP_FIELD_ALL, &param));
        param.ep_attr.max_message_size = asked[i];
        param.ep_attr.max_rdma_size = asked[i];
        DAT_OK(dat_ep_create(end.ia, end.pz, end.recv, end.request, end.conn,
                             &param.ep_attr, &ep));
        DAT_OK(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
        bool most = !asked[i] || asked[i] > can.max_message_size;
        assert_int_equal(param.ep_attr.max_message_size,
                         most ? can.max_message_size : asked[i]);
        assert_int_equal(param.ep_attr.max_rdma_size,
                         most ? can.max_rdma_size : asked[i]);
        /* the same for one that is modified */
        param.ep_attr.max_message_size = asked[i];
        DAT_OK(
            dat_ep_modify(ep, DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE, &param));
        DAT_OK(dat_ep_free(ep));
    }
    end_close(&end);
}

/* Numbers can't be lowered silently: the consumer would miss the rest. */
static void too_many_are_refused(void **state)
{
    end_t end;
    DAT_IA_ATTR can;
    DAT_EP_PARAM before, param;
    DAT_EP_HANDLE ep;
    end_open(&end, NULL);
    DAT_OK(dat_ia_query(end.ia, NULL, DAT_IA_FIELD_ALL, &can, 0, NULL));
    DAT_OK(dat_ep_query(end.ep, DAT_EP_FIELD_ALL, &before));
    param = before;
    param.ep_attr.max_request_dtos = can.max_dto_per_ep + 1;
    DAT_FAILS(dat_ep_create(end.ia, end.pz, end.recv, end.request, end.conn,
                            &param.ep_attr, &ep),
              DAT_INVALID_PARAMETER);
    /* and nothing is changed by half */
    param.ep_attr.max_recv_dtos = 1;
    DAT_FAILS(dat_ep_modify(end.ep,
                            DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS |
                                DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS,
                            &param),
              DAT_INVALID_PARAMETER);
    DAT_OK(dat_ep_query(end.ep, DAT_EP_FIELD_ALL, &param));
    assert_memory_equal(&param.ep_attr, &before.ep_attr, sizeof param.ep_attr);
    end_close(&end);
}

/* Creation refuses a PZ other than that of the shared receive queue. */
static void srq_keeps_its_zone(void **state)
{
    NEEDS(max_srqs);
    end_t end;
    DAT_SRQ_HANDLE srq;
    DAT_EP_HANDLE ep;
    DAT_EP_PARAM param = {0};
    DAT_SRQ_ATTR attr = {4, 1, DAT_SRQ_LW_DEFAULT};
    end_open(&end, NULL);
    DAT_OK(dat_srq_create(end.ia, end.pz, &attr, &srq));
    DAT_OK(dat_pz_create(end.ia, &param.pz_handle));
    DAT_FAILS(dat_ep_create_with_srq(end.ia, param.pz_handle, end.recv,
                                     end.request, end.conn, srq, NULL, &ep),
              DAT_INVALID_HANDLE);
    DAT_OK(dat_ep_create_with_srq(end.ia, end.pz, end.recv, end.request,
                                  end.conn, srq, NULL, &ep));
    DAT_FAILS(dat_ep_modify(ep, DAT_EP_FIELD_PZ_HANDLE, &param),
              DAT_INVALID_HANDLE);
    DAT_OK(dat_ep_free(ep));
    DAT_OK(dat_srq_free(srq));
    DAT_OK(dat_pz_free(param.pz_handle));
    end_close(&end);
}

/* Without memory for the queues nothing is changed either. */
static void no_memory_changes_nothing(void **state)
{
#ifdef DRAIL_SANITIZE
    skip(); /* sanitizers need address space of their own */
#else
    end_t end;
    DAT_EP_PARAM before, param;
    end_open(&end, NULL);
    DAT_OK(dat_ep_query(end.ep, DAT_EP_FIELD_ALL, &before));
    param = before;
    param.ep_attr.max_recv_dtos = param.ep_attr.max_request_dtos = 4096;

    struct rlimit was, none;
    assert_int_equal(getrlimit(RLIMIT_AS, &was), 0);
    none = was;
    none.rlim_cur = 1;
    assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
    DAT_RETURN got = dat_ep_modify(end.ep,
                                   DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS |
                                       DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS,
                                   &param);
    assert_int_equal(setrlimit(RLIMIT_AS, &was), 0);
    DAT_FAILS(got, DAT_INSUFFICIENT_RESOURCES);
    DAT_OK(dat_ep_query(end.ep, DAT_EP_FIELD_ALL, &param));
    assert_memory_equal(&param.ep_attr, &before.ep_attr, sizeof param.ep_attr);
    end_close(&end);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_are_cut),
        cmocka_unit_test(too_many_are_refused),
        cmocka_unit_test(srq_keeps_its_zone),
        cmocka_unit_test(no_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
