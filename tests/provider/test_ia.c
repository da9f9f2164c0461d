/* SPDX-License-Identifier: BSD-3-Clause */
/* IA: open, close, query, handles, and what the provider does not offer. */
#include "util.h"

#include <netinet/in.h>

#include <dat2/dat_ib_extensions.h>

static void ia_open_and_close(void **state)
{
    for (int i = 0; i < 100; i++) {
        DAT_IA_HANDLE ia;
        DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
        DAT_OK(dat_ia_open((DAT_NAME_PTR)IA_NAME, 8, &async, &ia));
        assert_non_null(async);
        DAT_OK(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
        DAT_FAILS(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG),
                  DAT_INVALID_HANDLE);
    }
}

static void ia_unknown_name(void **state)
{
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_FAILS(dat_ia_open((DAT_NAME_PTR) "shm999", 8, &async, &ia),
              DAT_PROVIDER_NOT_FOUND);
}

static void ia_several_open(void **state)
{
    static const char *const names[] = {"shm0", "shm1", "shm2", "shm3", "shm0"};
    enum { N = sizeof names / sizeof *names };
    DAT_IA_HANDLE ia[N];
    for (int i = 0; i < N; i++) {
        DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
        DAT_OK(dat_ia_open((DAT_NAME_PTR)names[i], 8, &async, &ia[i]));
    }
    for (int i = 0; i < N; i++)
        DAT_OK(dat_ia_close(ia[i], DAT_CLOSE_GRACEFUL_FLAG));
}

/* Objects that are still there forbid a graceful close, not an abrupt one. */
static void ia_close_with_objects(void **state)
{
    end_t end;
    end_open_memory(&end, MEMORY_MALLOC, 4096, DAT_MEM_PRIV_ALL_FLAG);
    DAT_FAILS(dat_ia_close(end.ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE);
    DAT_OK(dat_ia_close(end.ia, DAT_CLOSE_ABRUPT_FLAG));
    end.mem.lmr = NULL;
    region_destroy(&end.mem);
}

static void ia_attributes(void **state)
{
    end_t end;
    DAT_IA_ATTR ia = {0};
    DAT_PROVIDER_ATTR prov = {0};
    DAT_EVD_HANDLE async = NULL;
    end_open(&end, NULL);
    DAT_OK(dat_ia_query(end.ia, &async, DAT_IA_FIELD_ALL, &ia,
                        DAT_PROVIDER_FIELD_ALL, &prov));
    assert_ptr_equal(async, end.async);

    assert_true(ia.adapter_name[0] && ia.vendor_name[0]);
    assert_non_null(memchr(ia.adapter_name, 0, DAT_NAME_MAX_LENGTH));
    assert_non_null(ia.ia_address_ptr);
    assert_true(ia.max_eps >= 64);
    assert_true(ia.max_dto_per_ep >= 256);
    assert_true(ia.max_evds >= 64);
    assert_true(ia.max_evd_qlen >= 1024);
    assert_true(ia.max_iov_segments_per_dto >= 4);
    assert_true(ia.max_iov_segments_per_rdma_read >= 4);
    assert_true(ia.max_iov_segments_per_rdma_write >= 4);
    assert_true(ia.max_lmrs >= 64);
    assert_true(!ia.max_rmrs || ia.max_rmrs >= 64);
    assert_true(ia.max_pzs >= 16);
    assert_true(!ia.max_srqs || ia.max_recv_per_srq >= 256);
    assert_true(ia.max_message_size >= 1 << 20);
    assert_true(ia.max_rdma_size >= 1 << 22);
    assert_true(ia.max_rdma_read_per_ep_in >= 1);
    assert_true(ia.max_rdma_read_per_ep_out >= 1);
    assert_int_equal(ia.extension_supported, DAT_EXTENSION_IB);
    assert_true(ia.extension_version > 200);

    assert_true(prov.provider_name[0]);
    assert_int_equal(prov.dapl_version_major, 2);
    assert_true(prov.lmr_mem_types_supported & DAT_MEM_TYPE_LMR);
    assert_false(prov.lmr_mem_types_supported & DAT_MEM_TYPE_SHARED_VIRTUAL);
    assert_true(prov.completion_flags_supported & DAT_COMPLETION_SUPPRESS_FLAG);
    assert_int_equal(prov.is_thread_safe, DAT_FALSE);
    assert_true(prov.max_private_data_size >= 64);
    assert_int_equal(prov.ep_creator, DAT_PSP_CREATES_EP_NEVER);
    assert_int_equal(!!prov.srq_supported, ia.max_srqs > 0);
    for (int i = 0; i < 6; i++)
        assert_true(prov.evd_stream_merging_supported[i][i]);
    end_close(&end);
}

static void ia_extensions_are_listed(void **state)
{
    static const char *const wanted[] = {DAT_IB_ATTR_IMMED_DATA,
                                         DAT_IB_ATTR_FETCH_AND_ADD,
                                         DAT_IB_ATTR_CMP_AND_SWAP};
    NEEDS_ATOMICS();
    end_t end;
    DAT_PROVIDER_ATTR prov = {0};
    end_open(&end, NULL);
    DAT_OK(dat_ia_query(end.ia, NULL, 0, NULL,
                        DAT_PROVIDER_FIELD_NUM_PROVIDER_SPECIFIC_ATTR |
                            DAT_PROVIDER_FIELD_PROVIDER_SPECIFIC_ATTR,
                        &prov));
    for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++) {
        bool found = false;
        for (int i = 0; i < prov.num_provider_specific_attr; i++)
            if (!strcmp(prov.provider_specific_attr[i].name, wanted[w]))
                found = true;
        assert_true(found);
    }
    end_close(&end);
}

static void ia_query_bad_arguments(void **state)
{
    end_t end;
    DAT_IA_ATTR ia;
    end_open(&end, NULL);
    DAT_FAILS(dat_ia_query(end.ia, NULL, DAT_IA_FIELD_ALL, NULL, 0, NULL),
              DAT_INVALID_PARAMETER);
    DAT_FAILS(dat_ia_query(end.ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, NULL),
              DAT_INVALID_PARAMETER);
    DAT_FAILS(
        dat_ia_query(DAT_HANDLE_NULL, NULL, DAT_IA_FIELD_ALL, &ia, 0, NULL),
        DAT_INVALID_HANDLE);
    end_close(&end);
}

static void pz_life(void **state)
{
    end_t end;
    DAT_PZ_HANDLE pz;
    DAT_PZ_PARAM param;
    end_open(&end, NULL);
    DAT_OK(dat_pz_create(end.ia, &pz));
    DAT_OK(dat_pz_query(pz, DAT_PZ_FIELD_ALL, &param));
    assert_non_null(param.ia_handle); /* the provider's, not the registry's */
    DAT_OK(dat_pz_free(pz));
    DAT_FAILS(dat_pz_free(pz), DAT_INVALID_HANDLE);
    DAT_FAILS(dat_pz_free(end.pz), DAT_INVALID_STATE); /* the EP needs it */
    end_close(&end);
}

static void handles_have_types_and_contexts(void **state)
{
    end_t end;
    end_open_memory(&end, MEMORY_MALLOC, 64, DAT_MEM_PRIV_ALL_FLAG);
    const struct {
        DAT_HANDLE handle;
        DAT_HANDLE_TYPE type;
    } objects[] = {
        {end.ia, DAT_HANDLE_TYPE_IA},       {end.pz, DAT_HANDLE_TYPE_PZ},
        {end.recv, DAT_HANDLE_TYPE_EVD},    {end.psp, DAT_HANDLE_TYPE_PSP},
        {end.ep, DAT_HANDLE_TYPE_EP},       {end.async, DAT_HANDLE_TYPE_EVD},
        {end.mem.lmr, DAT_HANDLE_TYPE_LMR},
    };
    enum { N = sizeof objects / sizeof *objects };
    for (size_t i = 0; i < N; i++) {
        DAT_HANDLE_TYPE type;
        DAT_OK(dat_get_handle_type(objects[i].handle, &type));
        assert_int_equal(type, objects[i].type);
        DAT_OK(dat_set_consumer_context(objects[i].handle, cookie(i + 1)));
    }
    for (size_t i = 0; i < N; i++) {
        DAT_CONTEXT context;
        DAT_OK(dat_get_consumer_context(objects[i].handle, &context));
        assert_int_equal(context.as_64, i + 1);
    }
    end_close(&end);
}

/* A null handle, one of another type, and one that was freed. */
static void handles_are_checked(void **state)
{
    end_t end;
    DAT_EVENT event;
    DAT_EP_PARAM ep_param;
    DAT_EVD_HANDLE evd;
    DAT_EP_HANDLE ep;
    DAT_LMR_TRIPLET iov;

    end_open_memory(&end, MEMORY_MALLOC, 64, DAT_MEM_PRIV_ALL_FLAG);
    iov = local(&end.mem, 0, 8);
    DAT_FAILS(dat_evd_dequeue(DAT_HANDLE_NULL, &event), DAT_INVALID_HANDLE);
    DAT_FAILS(dat_evd_dequeue(end.ep, &event), DAT_INVALID_HANDLE);
    DAT_FAILS(dat_ep_query(end.pz, DAT_EP_FIELD_ALL, &ep_param),
              DAT_INVALID_HANDLE);
    DAT_FAILS(dat_ep_free(end.recv), DAT_INVALID_HANDLE);
    DAT_FAILS(dat_lmr_free(end.psp), DAT_INVALID_HANDLE);
    DAT_FAILS(dat_psp_free(end.mem.lmr), DAT_INVALID_HANDLE);
    DAT_FAILS(dat_rmr_free(end.pz), DAT_INVALID_HANDLE);
    DAT_FAILS(dat_srq_free(end.pz), DAT_INVALID_HANDLE);
    DAT_FAILS(dat_cno_free(end.pz), DAT_INVALID_HANDLE);
    DAT_FAILS(dat_rsp_free(end.psp), DAT_INVALID_HANDLE);
    DAT_FAILS(dat_cr_reject(end.psp, 0, NULL), DAT_INVALID_HANDLE);
    DAT_FAILS(dat_ep_post_recv(end.recv, 1, &iov, cookie(0), 0),
              DAT_INVALID_HANDLE);
    DAT_FAILS(dat_ep_create(end.ia, end.recv, end.recv, end.request, end.conn,
                            NULL, &ep),
              DAT_INVALID_HANDLE);
    /* connection events can't go to an EVD that takes only DTOs */
    DAT_FAILS(dat_ep_create(end.ia, end.pz, end.recv, end.request, end.recv,
                            NULL, &ep),
              DAT_INVALID_HANDLE);

    DAT_OK(dat_evd_create(end.ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd));
    DAT_OK(dat_evd_free(evd));
    DAT_FAILS(dat_evd_dequeue(evd, &event), DAT_INVALID_HANDLE);
    DAT_FAILS(dat_evd_free(evd), DAT_INVALID_HANDLE);
    ep = end.ep;
    DAT_OK(dat_ep_free(ep));
    end.ep = NULL;
    DAT_FAILS(dat_ep_post_recv(ep, 1, &iov, cookie(0), 0), DAT_INVALID_HANDLE);
    DAT_FAILS(dat_ep_free(ep), DAT_INVALID_HANDLE);
    end_close(&end);
}

static void not_offered(DAT_RETURN rc)
{
    DAT_RETURN_TYPE type = (DAT_RETURN_TYPE)DAT_GET_TYPE(rc);
    if (type != DAT_NOT_IMPLEMENTED)
        DAT_FAILS(rc, DAT_MODEL_NOT_SUPPORTED);
}

static void what_is_not_offered(void **state)
{
    end_t end;
    DAT_PSP_HANDLE psp;
    DAT_LMR_HANDLE lmr;
    DAT_LMR_CONTEXT lmr_context;
    DAT_RMR_CONTEXT rmr_context;
    DAT_VLEN length;
    DAT_VADDR address;
    char id[DAT_LMR_COOKIE_SIZE] = "an id";

    end_open_memory(&end, MEMORY_MALLOC, 4096, DAT_MEM_PRIV_ALL_FLAG);
    not_offered(
        dat_psp_create(end.ia, 4711, end.cr, DAT_PSP_PROVIDER_FLAG, &psp));
    DAT_REGION_DESCRIPTION shared = {
        .for_shared_memory = {end.mem.data, (DAT_LMR_COOKIE)&id}};
    not_offered(dat_lmr_create(end.ia, DAT_MEM_TYPE_SHARED_VIRTUAL, shared,
                               4096, end.pz, DAT_MEM_PRIV_ALL_FLAG,
                               DAT_VA_TYPE_VA, &lmr, &lmr_context, &rmr_context,
                               &length, &address));
    DAT_REGION_DESCRIPTION virtual = {.for_va = end.mem.data};
    not_offered(dat_lmr_create(end.ia, DAT_MEM_TYPE_VIRTUAL, virtual, 4096,
                               end.pz, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_ZB,
                               &lmr, &lmr_context, &rmr_context, &length,
                               &address));
    end_close(&end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ia_open_and_close),
        cmocka_unit_test(ia_unknown_name),
        cmocka_unit_test(ia_several_open),
        cmocka_unit_test(ia_close_with_objects),
        cmocka_unit_test(ia_attributes),
        cmocka_unit_test(ia_extensions_are_listed),
        cmocka_unit_test(ia_query_bad_arguments),
        cmocka_unit_test(pz_life),
        cmocka_unit_test(handles_have_types_and_contexts),
        cmocka_unit_test(handles_are_checked),
        cmocka_unit_test(what_is_not_offered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
