/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stream of scripts/degrade-any over UCX: eager active messages of UCP, the
 * only ones that its failover offers (1.22). Behind the stream's arguments:
 * MODE RANK HOST:PORT, with the mode of the endpoints: none, peer or failover.
 */
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

#include "meet.h"
#include "run.h"
#include "stream.h"

#define CLOSE_S 2
#define MESSAGE 1 /* id of our active messages */

typedef struct library {
    stream_t stream;
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h ep;
    ucp_err_handling_mode_t mode;
    ucs_status_t status; /* of the endpoint, or of a request that failed */
    void *requests[STREAM_SLOTS_MAX];
    uint32_t slots[STREAM_SLOTS_MAX]; /* headers: the slots' numbers */
    bool sends[STREAM_SLOTS_MAX], came[STREAM_SLOTS_MAX];
} library_t;

static void check(ucs_status_t status, const char *call)
{
    if (status != UCS_OK)
        stream_die(call, ucs_status_string(status));
}

/* -------------------------------------------------------------- stream --- */

static int ucp_send(void *library, unsigned slot, size_t bytes)
{
    library_t *l = library;
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                       .flags = UCP_AM_SEND_FLAG_EAGER};
    l->slots[slot] = slot;
    l->sends[slot] = true;
    void *request =
        ucp_am_send_nbx(l->ep, MESSAGE, &l->slots[slot], sizeof *l->slots,
                        stream_slot(&l->stream, slot), bytes, &param);
    l->requests[slot] = request;
    if (!UCS_PTR_IS_ERR(request))
        return 1;
    l->status = UCS_PTR_STATUS(request);
    return -1;
}

static ucs_status_t arrived(void *library, const void *header,
                            size_t header_bytes, void *data, size_t bytes,
                            const ucp_am_recv_param_t *param)
{
    library_t *l = library;
    uint32_t slot = 0;
    memcpy(&slot, header,
           header_bytes < sizeof slot ? header_bytes : sizeof slot);
    if (slot >= l->stream.slots || bytes > l->stream.bytes ||
        param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)
        return l->status = UCS_ERR_INVALID_PARAM;
    memcpy(stream_slot(&l->stream, slot), data, bytes);
    l->came[slot] = true;
    return UCS_OK;
}

/* Active messages need none. */
static int ucp_receive(void *library, unsigned slot)
{
    (void)library, (void)slot;
    return 1;
}

static int test_send(library_t *l, unsigned slot)
{
    void *request = l->requests[slot];
    if (!request) /* it was complete at once */
        return 1;
    ucs_status_t status = ucp_request_check_status(request);
    if (status == UCS_INPROGRESS)
        return 0;
    ucp_request_free(request);
    l->requests[slot] = NULL;
    l->status = status;
    return status == UCS_OK ? 1 : -1;
}

static int ucp_test(void *library, unsigned slot)
{
    library_t *l = library;
    ucp_worker_progress(l->worker);
    if (l->status != UCS_OK)
        return -1;
    if (l->sends[slot])
        return test_send(l, slot);
    bool came = l->came[slot];
    l->came[slot] = false;
    return came;
}

static const char *ucp_error(void *library)
{
    return ucs_status_string(((library_t *)library)->status);
}

static const stream_ops_t ops = {ucp_send, ucp_receive, ucp_test, ucp_error};

/* -------------------------------------------------------------- start --- */

static void failed(void *library, ucp_ep_h ep, ucs_status_t status)
{
    (void)ep;
    ((library_t *)library)->status = status;
}

static void open_worker(library_t *l)
{
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                 .features = UCP_FEATURE_AM};
    const ucp_worker_params_t worker = {.field_mask =
                                            UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                        .thread_mode = UCS_THREAD_MODE_SINGLE};
    check(ucp_init(&params, NULL, &l->context), "ucp_init");
    check(ucp_worker_create(l->context, &worker, &l->worker),
          "ucp_worker_create");
    const ucp_am_handler_param_t handler = {
        .field_mask =
            UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
            UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id = MESSAGE,
        .flags = UCP_AM_FLAG_WHOLE_MSG,
        .cb = arrived,
        .arg = l};
    check(ucp_worker_set_am_recv_handler(l->worker, &handler),
          "ucp_worker_set_am_recv_handler");
}

static void connect_to(library_t *l, const meet_card_t *card)
{
    const ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = (const ucp_address_t *)card->address,
        .err_mode = l->mode,
        .err_handler = {.cb = failed, .arg = l}};
    check(ucp_ep_create(l->worker, &params, &l->ep), "ucp_ep_create");
}

static void exchange_addresses(library_t *l, const meet_t *meet)
{
    meet_card_t mine = {0}, other;
    ucp_address_t *address;
    check(ucp_worker_get_address(l->worker, &address, &mine.length),
          "ucp_worker_get_address");
    if (mine.length > MEET_ADDRESS_MAX)
        stream_die("ucp_worker_get_address", "it is too long");
    memcpy(mine.address, address, mine.length);
    ucp_worker_release_address(l->worker, address);
    meet_exchange(meet, &mine, &other, sizeof mine);
    connect_to(l, &other);
}

static void close_endpoint(library_t *l)
{
    const ucp_request_param_t param = {0};
    double end = run_now() + CLOSE_S;
    void *request = ucp_ep_close_nbx(l->ep, &param);
    while (UCS_PTR_IS_PTR(request) && run_now() < end &&
           ucp_request_check_status(request) == UCS_INPROGRESS)
        ucp_worker_progress(l->worker);
    if (UCS_PTR_IS_PTR(request))
        ucp_request_free(request);
}

static ucp_err_handling_mode_t parse_mode(const char *text)
{
    if (!strcmp(text, "none"))
        return UCP_ERR_HANDLING_MODE_NONE;
    if (!strcmp(text, "peer"))
        return UCP_ERR_HANDLING_MODE_PEER;
    if (!strcmp(text, "failover"))
        return UCP_ERR_HANDLING_MODE_FAILOVER;
    stream_die(text, "is wrong; allowed: none, peer, failover");
}

int main(int argc, char **argv)
{
    library_t l = {.status = UCS_OK};
    stream_parse(&l.stream, argc, argv);
    if (argc != 8)
        stream_die("arguments", "allowed: … MODE RANK HOST:PORT");
    l.mode = parse_mode(argv[5]);
    stream_allocate(&l.stream);
    meet_t meet = meet_open(argv[6], argv[7]);
    open_worker(&l);
    exchange_addresses(&l, &meet);
    if (meet.rank == 0) {
        printf("# UCX %s\n", ucp_get_version_string());
        fflush(stdout);
    }
    int status = stream_run(&l.stream, meet.rank, &ops, &l);
    if (status)
        _Exit(status); /* what is left of the endpoint may never end */
    close_endpoint(&l);
    meet_close(&meet);
    ucp_worker_destroy(l.worker);
    ucp_cleanup(l.context);
    free(l.stream.memory);
    return 0;
}
