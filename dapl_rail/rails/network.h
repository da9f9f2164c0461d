/* SPDX-License-Identifier: BSD-3-Clause */
/* The network that an address belongs to. */
#ifndef DRAIL_RAILS_NETWORK_H
#define DRAIL_RAILS_NETWORK_H

#include <stddef.h>
#include <sys/socket.h>

/* Writes "10.1.0.0/24", or "" if no interface of this host has the address. */
void network_of(const struct sockaddr_storage *address, char *text,
                size_t size);

#endif
