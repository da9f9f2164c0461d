# SPDX-License-Identifier: BSD-3-Clause
"""Launching on the hosts of scripts/testbed, and the settings of MPI libraries
for their rails."""
import os

from railtools.peers import WHEELS

AGENT = "/run/testbed/bin/agent"
FABRIC = os.path.join(WHEELS, "mpich", "lib", "mpich")  # its libfabric
# Intel MPI's own libfabric is no wheel; MPICH's wheel has one of the same age
OF_INTEL = ["I_MPI_PIN=0", "LD_LIBRARY_PATH=" + FABRIC]


def on(host, command):
    return ["on", host, *command]


def of_ucx(rails):
    """Also below MPICH."""
    return ["UCX_TLS=tcp", f"UCX_NET_DEVICES={','.join(rails)}",
            "UCX_MAX_EAGER_RAILS=2", "UCX_MAX_RNDV_RAILS=2"]


def prte(hosts, ppn):
    """The options of Open MPI 5's mpirun."""
    return ["--allow-run-as-root", "-np", str(len(hosts) * ppn), "-H",
            ",".join(f"{host}:{ppn}" for host in hosts), "--bind-to", "none",
            "--prtemca", "plm_ssh_agent", AGENT, "--prtemca",
            "oob_tcp_if_include", "eth0"]


def hydra(hosts, ppn):
    """The options of mpiexec of MPICH and Intel MPI."""
    return ["-n", str(len(hosts) * ppn), "-hosts", ",".join(hosts), "-ppn",
            str(ppn), "-launcher", "ssh", "-launcher-exec", AGENT, "-iface",
            "eth0"]
