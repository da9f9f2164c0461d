# SPDX-License-Identifier: BSD-3-Clause
"""The libraries whose stream is disturbed: where they are, how they are
launched, and their documented settings for several interfaces."""
import glob
import os
import secrets
import shlex

from railtools.degrade_any.faults import HOSTS, RAILS
from railtools.files import hide
from railtools.hosts import FABRIC, OF_INTEL, hydra, of_ucx, on, prte
from railtools.paths import RAILBENCH
from railtools.peers import FOLDER, OURS, WHEELS, not_built


class Library:
    """One of them. Its stream program gets the words of bench/peers/stream.h."""

    name: str
    key: str
    made = "make deps-peers peers"
    settings: list = []  # variables, as NAME=VALUE
    words: list = []  # options of its launcher
    why = ""  # what a reader of the settings should know

    def __init__(self):
        self.port = 20000
        self.needs = [os.path.join(FOLDER, self.program())]
        self.hidden = {WHEELS: "WHEELS"}

    def program(self):
        raise NotImplementedError

    def describe(self):
        """Does nothing: each stream prints the version of its library."""

    def missing(self):
        return not_built(self.needs, self.made)

    def commands(self, stream):
        """What is to be started, all at once. @stream: the program's words."""
        raise NotImplementedError

    def told(self):
        """Its settings."""
        return " ".join([*self.settings, *self.words])

    def hide(self, command):
        """Without what is of this machine."""
        return hide(shlex.join(command), self.hidden)


class Pair(Library):
    """A program for each rank, which meet at a port of rank 0's host."""

    def rank(self, rank, place):
        """(variables, words behind the stream's)."""
        raise NotImplementedError

    def commands(self, stream):
        self.port += 1
        for rank, host in enumerate(HOSTS):
            variables, words = self.rank(rank, f"{HOSTS[0]}:{self.port}")
            yield on(host, ["env", *self.settings, *variables,
                            os.path.join(FOLDER, self.program()), *stream,
                            *words])


class Ours(Pair):
    name, key = OURS, "dapl_rail"
    settings = ["DRAIL_RAILS=" + ",".join(f"tcp-{rail}" for rail in RAILS),
                "DRAIL_POLICY=adaptive"]
    why = "notified puts"

    def __init__(self):
        super().__init__()
        self.needs.append(RAILBENCH)
        self.secret = secrets.token_hex(16)
        self.hidden[self.secret] = "SECRET"

    def program(self):
        return "stream_drail"

    def rank(self, rank, place):
        return [f"DRAIL_SECRET={self.secret}", f"DRAIL_RENDEZVOUS={place}",
                "DRAIL_RANKS=2", f"DRAIL_RANK={rank}"], []


class UCX(Pair):
    name, key, mode = "UCX", "ucx", "peer"
    settings = of_ucx(RAILS)
    why = "eager active messages; UCP_ERR_HANDLING_MODE_PEER"

    def program(self):
        return "stream_ucp"

    def rank(self, rank, place):
        return [], [self.mode, str(rank), place]


class UCXFailover(UCX):
    name, key, mode = "UCX failover", "ucx-failover", "failover"
    why = ("eager active messages, the only ones that its failover offers; "
           "UCP_ERR_HANDLING_MODE_FAILOVER")


class UCXTimeout(UCXFailover):
    """By default the kernel gives up a connection after a quarter of an
    hour."""

    name, key = "UCX failover, 500 ms", "ucx-failover-500ms"
    settings = [*UCX.settings, "UCX_TCP_USER_TIMEOUT=500ms"]


class Fabric(Pair):
    name, key = "libfabric", "libfabric"
    provider = "tcp;ofi_rxm"
    why = ("an endpoint of tcp;ofi_rxm is on one interface; ofi_mrail, its "
           "provider for several, brought no message through here")

    def program(self):
        return "stream_fi"

    def rank(self, rank, place):
        return [], [self.provider, f"{HOSTS[rank]}-{RAILS[0]}", str(rank),
                    place]


class MPI(Library):
    """From a wheel, by its launcher on the first host."""

    launcher: str

    def __init__(self):
        super().__init__()
        self.folder = os.path.join(WHEELS, self.key)
        self.mpirun = os.path.join(self.folder, "bin", self.launcher)
        self.needs.append(self.mpirun)

    def program(self):
        return f"stream_mpi.{self.key}-wheel"

    def launch(self):
        """The launcher's own options."""
        raise NotImplementedError

    def commands(self, stream):
        yield on(HOSTS[0], [
            "env", *self.variables(), self.mpirun, *self.launch(), *self.words,
            os.path.join(FOLDER, self.program()), *stream])

    def variables(self):
        return self.settings


class OpenMPI(MPI):
    name, key, launcher = "Open MPI", "openmpi", "mpirun"
    words = ["--mca", "pml", "ob1", "--mca", "btl", "self,tcp", "--mca",
             "btl_tcp_if_include", ",".join(RAILS)]

    def launch(self):
        return prte(HOSTS, 1)


class MPICH(MPI):
    name, key, launcher = "MPICH", "mpich", "mpiexec"
    settings = UCX.settings
    why = ("over UCX; over libfabric, MPIR_CVAR_CH4_OFI_MAX_NICS=2 finds one "
           "interface, as these are no PCI devices")

    def launch(self):
        return [*hydra(HOSTS, 1), "-bind-to", "none"]


class IntelMPI(MPI):
    name, key, launcher = "Intel MPI", "impi", "mpiexec"
    settings = ["I_MPI_FABRICS=ofi", "I_MPI_OFI_PROVIDER=tcp",
                "I_MPI_MULTIRAIL=1"]
    why = ("over the libfabric of MPICH's wheel; I_MPI_MULTIRAIL=1 finds one "
           "interface, as these are no PCI devices")

    def variables(self):
        return [*self.settings, *OF_INTEL]

    def missing(self):
        fabric = glob.glob(os.path.join(FABRIC, "libfabric.so*"))
        return super().missing() or (
            None if fabric else f"no libfabric in MPICH's wheel ({self.made})")

    def launch(self):
        return hydra(HOSTS, 1)


LIBRARIES = [Ours, UCX, UCXFailover, UCXTimeout, OpenMPI, MPICH, IntelMPI, Fabric]
KEYS = [kind.key for kind in LIBRARIES]
