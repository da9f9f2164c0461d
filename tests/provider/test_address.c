/* SPDX-License-Identifier: BSD-3-Clause */
/* An address reaches the listener of the rail that has it. */
#include "util.h"

#include <arpa/inet.h>
#include <netinet/in.h>

static DAT_IA_HANDLE rail_open(const char *name)
{
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_OK(dat_ia_open((DAT_NAME_PTR)(uintptr_t)name, 8, &async, &ia));
    return ia;
}

static struct sockaddr_in address_of(DAT_IA_HANDLE ia)
{
    DAT_IA_ATTR attr;
    DAT_OK(dat_ia_query(ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
    return *(struct sockaddr_in *)attr.ia_address_ptr;
}

static DAT_EVD_HANDLE listen_on(DAT_IA_HANDLE ia, DAT_CONN_QUAL qual)
{
    DAT_EVD_HANDLE evd;
    DAT_PSP_HANDLE psp;
    DAT_OK(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &evd));
    DAT_OK(dat_psp_create(ia, qual, evd, DAT_PSP_CONSUMER_FLAG, &psp));
    return evd;
}

/* Connects from the end's EP and is rejected by the listener expected. */
static void reaches(end_t *from, struct sockaddr_in *to, DAT_CONN_QUAL qual,
                    DAT_EVD_HANDLE listener)
{
    DAT_OK(dat_ep_connect(from->ep, (DAT_IA_ADDRESS_PTR)to, qual,
                          WAIT_MS * 1000, 0, NULL, DAT_QOS_BEST_EFFORT,
                          DAT_CONNECT_DEFAULT_FLAG));
    DAT_EVENT event = EXPECT_EVENT(listener, DAT_CONNECTION_REQUEST_EVENT);
    DAT_OK(dat_cr_reject(event.event_data.cr_arrival_event_data.cr_handle, 0,
                         NULL));
    EXPECT_EVENT(from->conn, DAT_CONNECTION_EVENT_PEER_REJECTED);
    DAT_OK(dat_ep_reset(from->ep));
}

static void rail_of_the_address(void **state)
{
    end_t end; /* of shm0 */
    end_open(&end, NULL);
    DAT_IA_HANDLE shm0 = rail_open("shm0"), shm1 = rail_open("shm1");
    struct sockaddr_in to0 = address_of(shm0), to1 = address_of(shm1);
    assert_int_not_equal(to0.sin_addr.s_addr, to1.sin_addr.s_addr);
    DAT_CONN_QUAL qual = end.qual + 0x20000;
    DAT_EVD_HANDLE at0 = listen_on(shm0, qual), at1 = listen_on(shm1, qual);
    reaches(&end, &to1, qual, at1);
    reaches(&end, &to0, qual, at0);
    /* any other address of this host: the same rail of it */
    struct sockaddr_in host = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    reaches(&end, &host, qual, at0);
    /* nobody listens there for what is not this rail's */
    DAT_IA_HANDLE shm2 = rail_open("shm2");
    struct sockaddr_in to2 = address_of(shm2);
    DAT_OK(dat_ep_connect(end.ep, (DAT_IA_ADDRESS_PTR)&to2, qual,
                          WAIT_MS * 1000, 0, NULL, DAT_QOS_BEST_EFFORT,
                          DAT_CONNECT_DEFAULT_FLAG));
    EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    DAT_OK(dat_ia_close(shm2, DAT_CLOSE_ABRUPT_FLAG));
    DAT_OK(dat_ia_close(shm1, DAT_CLOSE_ABRUPT_FLAG));
    DAT_OK(dat_ia_close(shm0, DAT_CLOSE_ABRUPT_FLAG));
    end_close(&end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rail_of_the_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
