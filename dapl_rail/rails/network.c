/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/rails/network.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The length and place of the address itself. 0: its family has no networks. */
static size_t bytes_of(const struct sockaddr *address,
                       const unsigned char **bytes)
{
    switch (address->sa_family) {
    case AF_INET:
        *bytes = (const unsigned char *)&((const struct sockaddr_in *)address)
                     ->sin_addr;
        return sizeof(struct in_addr);
    case AF_INET6:
        *bytes = (const unsigned char *)&((const struct sockaddr_in6 *)address)
                     ->sin6_addr;
        return sizeof(struct in6_addr);
    default:
        return 0;
    }
}

static bool is_it(const struct ifaddrs *at, sa_family_t family,
                  const unsigned char *bytes, size_t n)
{
    const unsigned char *other;
    return at->ifa_addr && at->ifa_netmask &&
           at->ifa_addr->sa_family == family &&
           bytes_of(at->ifa_addr, &other) == n && !memcmp(other, bytes, n);
}

static void print(sa_family_t family, const unsigned char *bytes,
                  const unsigned char *mask, size_t n, char *text, size_t size)
{
    unsigned char network[sizeof(struct in6_addr)];
    char name[INET6_ADDRSTRLEN];
    unsigned length = 0;
    for (size_t i = 0; i < n; i++) {
        network[i] = bytes[i] & mask[i];
        length += (unsigned)__builtin_popcount(mask[i]);
    }
    snprintf(text, size, "%s/%u", inet_ntop(family, network, name, sizeof name),
             length);
}

void network_of(const struct sockaddr_storage *address, char *text, size_t size)
{
    const unsigned char *bytes, *mask = NULL;
    size_t n = bytes_of((const struct sockaddr *)address, &bytes);
    struct ifaddrs *all, *at;
    *text = '\0';
    if (!n || getifaddrs(&all))
        return;
    for (at = all; at; at = at->ifa_next)
        if (is_it(at, address->ss_family, bytes, n))
            break;
    if (at) {
        /* systems leave the family of a mask unset */
        at->ifa_netmask->sa_family = address->ss_family;
        bytes_of(at->ifa_netmask, &mask);
        print(address->ss_family, bytes, mask, n, text, size);
    }
    freeifaddrs(all);
}
