/* SPDX-License-Identifier: BSD-3-Clause */
/* Every call of DAT and every one for memory fails in turn, over TCP. */
#include "faults_transport.h"
#include "over_tcp.h"

static void over_two(struct rank *r, const drail_config_t *cfg)
{
    drail_config_t tcp = *cfg;
    tcp.rails[0] = "tcp-a";
    tcp.rails[1] = "tcp-b";
    transport(r, &tcp);
}

FAULTS_TESTS(over_two)

int main(int argc, char **argv)
{
    faults_open();
    return over_tcp(tests, sizeof tests / sizeof tests[0], argc, argv);
}
