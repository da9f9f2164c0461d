# SPDX-License-Identifier: BSD-3-Clause
from spack.package import *
from spack_repo.builtin.build_systems.generic import Package


class Dapl(Package):
    """The uDAPL registry libdat2 and its headers, as the system has them.

    Always external: install the system's package (Debian: libdapl-dev), then
    put this into packages.yaml:

        packages:
          dapl:
            buildable: false
            externals:
            - spec: dapl@2.1.10
              prefix: /usr
    """

    homepage = "https://www.openfabrics.org"
    has_code = False
    version("2.1.10")

    def install(self, spec, prefix):
        raise InstallError("dapl is the system's: see its recipe")
