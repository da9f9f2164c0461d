# SPDX-License-Identifier: BSD-3-Clause
from pathlib import Path

from spack.package import *
from spack_repo.builtin.build_systems.makefile import MakefilePackage


class DaplRail(MakefilePackage):
    """Multirail communication over uDAPL: transport, collectives, a layer for
    MPI programs, distributed shared memory, and benchmarks.

    Builds the clone that this recipe lies in:

        spack repo add packaging/spack/spack_repo/dapl_rail
        spack install dapl-rail
    """

    git = f"file://{Path(__file__).resolve().parents[6]}"
    license("BSD-3-Clause")
    version("0.2.0", branch="main")

    variant("ofi", default=True, description="Rails over libfabric (TCP)")
    variant("sim", default=False, description="Simulated rails (SimGrid)")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+sim")
    depends_on("pkgconfig", type="build")
    depends_on("dapl@2:")
    depends_on("hwloc@2:")
    depends_on("pmix")
    depends_on("libfabric fabrics=tcp", when="+ofi")
    depends_on("simgrid", when="+sim")

    def build_arguments(self):
        providers = ["shm"]
        providers += [p for p in ("ofi", "sim") if f"+{p}" in self.spec]
        return [f"PREFIX={self.prefix}", f"PROVIDERS={' '.join(providers)}"]

    def build(self, spec, prefix):
        make(*self.build_arguments())

    def install(self, spec, prefix):
        make("install", *self.build_arguments())
