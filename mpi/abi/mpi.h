/* SPDX-License-Identifier: BSD-3-Clause */
/* For sources that are compiled for the standard ABI. */
#include <mpi_abi.h>
