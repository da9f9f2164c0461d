/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of an ofi rail. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "ofi.h"

static int parse_provider(const char *text, void *at)
{
    static const char *const names[] = {"tcp", "net", "verbs"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(text, names[i])) {
            strcpy(at, text);
            return 0;
        }
    return -1;
}

static int parse_address(const char *text, void *at)
{
    struct sockaddr_in *in = at;
    struct sockaddr_in6 *in6 = at;
    if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
        in->sin_family = AF_INET;
        return 0;
    }
    if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1) {
        in6->sin6_family = AF_INET6;
        return 0;
    }
    return -1;
}

static int parse_silence(const char *text, void *at)
{
    char *end;
    unsigned long ms = strtoul(text, &end, 10);
    if (end == text || *end || *text == '-' || ms > 3600000 || (ms && ms < 100))
        return -1;
    *(unsigned *)at = (unsigned)ms;
    return 0;
}

static const struct core_param_kind provider_kind = {
    "tcp, net or verbs", CORE_PARAM_NAME, parse_provider};
static const struct core_param_kind address_kind = {
    "an IPv4 or IPv6 address", sizeof(struct sockaddr_storage), parse_address};
static const struct core_param_kind silence_kind = {
    "milliseconds from 100 to 3600000, or 0", sizeof(unsigned), parse_silence};

static const struct core_param known[] = {
#define AT(member) offsetof(struct ofi_params, member)
    {"provider", &provider_kind, AT(provider), {0}},
    {"device", &core_param_name, AT(device), {0}},
    {"address", &address_kind, AT(address), {0}},
    {"silence", &silence_kind, AT(silence_ms), {0}},
#undef AT
};

const struct core_params ofi_params_known = {
    "ofi", sizeof known / sizeof known[0], known};
