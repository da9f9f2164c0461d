/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network interface of a rail. The kernel reports at once when its link
 * goes down, long before TCP would give up.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ofi.h"

/* ------------------------------------------------------------- address --- */

static socklen_t size_of(const struct sockaddr *a)
{
    return a->sa_family == AF_INET ? sizeof(struct sockaddr_in)
                                   : sizeof(struct sockaddr_in6);
}

static bool same_host(const struct sockaddr *a, const struct sockaddr *b)
{
    if (a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET)
        return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
               ((const struct sockaddr_in *)b)->sin_addr.s_addr;
    return !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
                   &((const struct sockaddr_in6 *)b)->sin6_addr,
                   sizeof(struct in6_addr));
}

/* How well an address suits the rail; 0: not at all. */
static int suits(const struct ofi_params *p, const struct ifaddrs *at)
{
    const struct sockaddr *a = at->ifa_addr;
    if (!a || (a->sa_family != AF_INET && a->sa_family != AF_INET6) ||
        (p->device[0] && strcmp(at->ifa_name, p->device)))
        return 0;
    if (p->address.ss_family != AF_UNSPEC)
        return same_host(a, (const struct sockaddr *)&p->address) ? 3 : 0;
    if (a->sa_family == AF_INET)
        return 2;
    /* a link-local address would need its scope, too */
    return !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)a)->sin6_addr);
}

static bool is_up(unsigned flags)
{
    return (flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
}

static int not_found(const struct ofi_ia *oia)
{
    const struct ofi_params *p = &oia->params;
    char address[INET6_ADDRSTRLEN] = "";
    if (p->address.ss_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)&p->address)->sin_addr,
                  address, sizeof address);
    if (p->address.ss_family == AF_INET6)
        inet_ntop(AF_INET6,
                  &((const struct sockaddr_in6 *)&p->address)->sin6_addr,
                  address, sizeof address);
    if (p->device[0])
        return core_params_bad(&ofi_params_known, oia->ia->name, "device",
                               "no interface %s with %s%s", p->device,
                               address[0] ? "address " : "an IP address",
                               address);
    return core_params_bad(&ofi_params_known, oia->ia->name, "address",
                           "no interface has %s", address);
}

int ofi_device_find(struct ofi_ia *oia)
{
    const struct ofi_params *p = &oia->params;
    struct ifaddrs *all, *best = NULL;
    if (!p->device[0] && p->address.ss_family == AF_UNSPEC)
        return core_params_bad(&ofi_params_known, oia->ia->name, "device",
                               "missing: device or address must be given");
    if (getifaddrs(&all))
        return -1;
    for (struct ifaddrs *at = all; at; at = at->ifa_next)
        if (suits(p, at) > (best ? suits(p, best) : 0))
            best = at;
    if (best) {
        memcpy(&oia->ia->address, best->ifa_addr, size_of(best->ifa_addr));
        snprintf(oia->device, sizeof oia->device, "%s", best->ifa_name);
        oia->device_index = (int)if_nametoindex(best->ifa_name);
        atomic_store(&oia->link_up, is_up(best->ifa_flags));
    }
    freeifaddrs(all);
    return best ? 0 : not_found(oia);
}

/* Interfaces of one device have the device's name there; others, such as
 * virtual ones, are adapters of their own. */
void ofi_device_adapter(const struct ofi_ia *oia, char *name, size_t size)
{
    char link[64], device[PATH_MAX];
    snprintf(link, sizeof link, "/sys/class/net/%s/device", oia->device);
    const char *base = realpath(link, device) ? strrchr(device, '/') : NULL;
    snprintf(name, size, "%s", base ? base + 1 : oia->device);
}

/* ---------------------------------------------------------------- link --- */

int ofi_device_watch(void)
{
    struct sockaddr_nl all = {.nl_family = AF_NETLINK,
                              .nl_groups = RTMGRP_LINK};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC,
                    NETLINK_ROUTE);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&all, sizeof all)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void on_change(struct ofi_ia *oia, const struct nlmsghdr *h)
{
    const struct ifinfomsg *info = NLMSG_DATA(h);
    if ((h->nlmsg_type != RTM_NEWLINK && h->nlmsg_type != RTM_DELLINK) ||
        info->ifi_index != oia->device_index)
        return;
    atomic_store(&oia->link_up,
                 h->nlmsg_type == RTM_NEWLINK && is_up(info->ifi_flags));
}

static void on_changes(struct ofi_ia *oia, const char *at, size_t left)
{
    const struct nlmsghdr *h = (const void *)at;
    while (left >= sizeof *h && h->nlmsg_len >= sizeof *h &&
           h->nlmsg_len <= left) {
        size_t step = NLMSG_ALIGN(h->nlmsg_len);
        on_change(oia, h);
        if (step >= left)
            break;
        left -= step;
        h = (const void *)((const char *)h + step);
    }
}

/* Some changes were lost, because there were too many: asks for the state. */
static void look_now(struct ofi_ia *oia)
{
    struct ifreq of = {0};
    memcpy(of.ifr_name, oia->device, strnlen(oia->device, IFNAMSIZ - 1));
    atomic_store(&oia->link_up, !ioctl(oia->link_fd, SIOCGIFFLAGS, &of) &&
                                    is_up((unsigned short)of.ifr_flags));
}

void ofi_device_changed(struct ofi_ia *oia)
{
    _Alignas(struct nlmsghdr) char buffer[8192];
    for (;;) {
        struct sockaddr_nl from;
        socklen_t size = sizeof from;
        ssize_t n = recvfrom(oia->link_fd, buffer, sizeof buffer, 0,
                             (struct sockaddr *)&from, &size);
        if (n < 0 && errno == ENOBUFS)
            look_now(oia);
        else if (n <= 0)
            return;
        else if (!from.nl_pid) /* the kernel */
            on_changes(oia, buffer, (size_t)n);
    }
}
