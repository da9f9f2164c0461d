# SPDX-License-Identifier: BSD-3-Clause
# make dist: the sources of the last commit; make deb: Debian packages of them.

DIST := $(BUILD)/dapl_rail-$(VERSION).tar.gz
DEB  := $(BUILD)/deb
# libdcoll-mpi-openmpi and -mpich, where both MPIs are here to build them
DEB_PROFILE = $(if $(and $(wildcard /usr/lib/*/openmpi/include/mpi.h),$(wildcard /usr/include/*/mpich/mpi.h)),,pkg.dapl-rail.nompi)

.PHONY: dist deb
dist:
	@[ "$$(git rev-parse --show-prefix 2>/dev/null || echo none)" = '' ] || { echo 'make dist: no git checkout: it packs the last commit of one' >&2; exit 2; }
	@mkdir -p $(BUILD)
	git archive --prefix=dapl_rail-$(VERSION)/ -o $(BUILD)/dist.tar HEAD
	gzip -9nc $(BUILD)/dist.tar > $(DIST)
	@rm $(BUILD)/dist.tar
	@echo $(DIST)

deb: dist
	@command -v dh >/dev/null || { echo 'make deb: no debhelper; install debhelper, chrpath and lintian' >&2; exit 2; }
	rm -rf $(DEB) && mkdir -p $(DEB)
	tar -xzf $(DIST) -C $(DEB)
	cd $(DEB)/dapl_rail-$(VERSION) && env -u BUILD dpkg-buildpackage -b -us -uc -P$(DEB_PROFILE) -j$(shell nproc)
	rm -rf $(DEB)/dapl_rail-$(VERSION)
	@ls $(DEB)/*.deb
	@$(if $(DEB_PROFILE),echo 'without libdcoll-mpi-openmpi and -mpich: libopenmpi-dev and libmpich-dev are not both here')

# the reference of the public calls
.PHONY: doxygen
doxygen:
	@command -v doxygen >/dev/null || { echo 'make doxygen: no doxygen; install it' >&2; exit 2; }
	@mkdir -p $(BUILD)/doc
	@{ cat docs/Doxyfile; echo 'PROJECT_NUMBER = $(VERSION)'; echo 'OUTPUT_DIRECTORY = $(BUILD)/doc'; } | doxygen -
	@echo $(BUILD)/doc/html/index.html
