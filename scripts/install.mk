# SPDX-License-Identifier: BSD-3-Clause
# make install PREFIX= LIBDIR= DESTDIR=, make uninstall
#
# Installed programs find the libraries by their own place ($ORIGIN/../lib):
# any PREFIX works, and a LIBDIR elsewhere must be one that ld.so searches.

MANDIR ?= $(PREFIX)/share/man
DOCDIR ?= $(PREFIX)/share/doc/dapl_rail
COMPDIR ?= $(PREFIX)/share/bash-completion/completions

INSTALL_BIN := $(RAILBENCH) $(RAILINFO)
INSTALL_SUITE := suite plot
# the modules that these import
INSTALL_PYTHON := $(addprefix railtools/,__init__.py files.py irregular.py result.schema.json \
  options.py paths.py programs.py report.py results.py suite.py table.py \
  verdicts.py) \
  $(patsubst tools/%,%,$(wildcard tools/railtools/plot/*.py))
INSTALL_MAN := $(wildcard docs/man/*.[1-9])
man_target  = $(MANDIR)/man$(patsubst .%,%,$(suffix $(1)))/$(notdir $(1))

INSTALLED = $(INSTALL_BIN:$(BIN)/%=$(PREFIX)/bin/%) \
  $(LIBDIR)/libdapl_rail.so $(LIBDIR)/libdapl_rail.so.$(SOVERSION) \
  $(LIBDIR)/libdapl_rail.so.$(VERSION) $(LIBDIR)/libdapl_embedded.so.$(SOVERSION) \
  $(LIBDIR)/libdcoll.so $(LIBDIR)/libdcoll.so.$(SOVERSION) $(LIBDIR)/libdcoll.so.$(VERSION) \
  $(LIBDIR)/libddsm.so $(LIBDIR)/libddsm.so.$(SOVERSION) $(LIBDIR)/libddsm.so.$(VERSION) \
  $(PREFIX)/include/dsm/ddsm.h $(LIBDIR)/pkgconfig/ddsm.pc \
  $(LIBDIR)/librailomp.so $(LIBDIR)/librailomp.so.$(SOVERSION) $(LIBDIR)/librailomp.so.$(VERSION) \
  $(OMP_PARTS:$(LIB)/%=$(LIBDIR)/%) $(OMP_WRAPPERS:$(BIN)/%=$(PREFIX)/bin/%) \
  $(LIBMPIS:$(LIB)/%=$(LIBDIR)/%) $(PREFIX)/include/coll/dcoll.h $(PREFIX)/include/coll/schedule.h \
  $(PROVIDERS:%=$(LIBDIR)/dapl_rail/libdapl_%.so) $(LIBDIR)/dapl_rail/libdcoll_dat.so $(LIBDIR)/dapl_rail/dat.conf $(LIBDIR)/dapl_rail/dat.conf.in \
  $(PLATFORMS:$(PROVDIR)/%=$(LIBDIR)/dapl_rail/%) \
  $(LIBDIR)/pkgconfig/dapl_rail.pc $(LIBDIR)/pkgconfig/dcoll.pc $(PREFIX)/include/dapl_rail/dapl_rail.h \
  $(PREFIX)/include/dapl_rail/batch.h $(PREFIX)/include/dapl_rail/collectives.h \
  $(foreach page,$(INSTALL_MAN),$(call man_target,$(page))) $(DOCDIR)/LICENSE \
  $(INSTALL_BIN:$(BIN)/%=$(COMPDIR)/%) \
  $(addprefix $(PREFIX)/libexec/dapl_rail/,$(INSTALL_SUITE) $(INSTALL_PYTHON))

# what bash loads at the first completion of a command of that name
COMPLETION := $(BUILD)/completion
$(COMPLETION): $(RAILBENCH)
	$(call say,GEN)$(RAILBENCH) completion > $@

install: all $(COMPLETION)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(LIBDIR)/dapl_rail \
	  $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(PREFIX)/include/dapl_rail \
	  $(DESTDIR)$(DOCDIR)
	install -m 755 $(INSTALL_BIN) $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(LIBEMBED).$(SOVERSION) $(DESTDIR)$(LIBDIR)
	for lib in libdapl_rail libdcoll libddsm librailomp; do \
	  install -m 644 $(LIB)/$$lib.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/$$lib.so.$(VERSION) && \
	  ln -sf $$lib.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$$lib.so.$(SOVERSION) && \
	  ln -sf $$lib.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/$$lib.so || exit 1; done
	$(if $(LIBMPIS),install -m 644 $(LIBMPIS) $(DESTDIR)$(LIBDIR))
	install -D -m 644 -t $(DESTDIR)$(LIBDIR)/railomp $(OMP_PARTS)
	$(foreach wrapper,$(OMP_WRAPPERS:$(BIN)/%=%),sed 's|^lib=.*|lib=$(LIBDIR)|' $(BIN)/$(wrapper) \
	  > $(DESTDIR)$(PREFIX)/bin/$(wrapper) && chmod 755 $(DESTDIR)$(PREFIX)/bin/$(wrapper) &&) true
	install -m 644 $(PROVIDERS:%=$(PROVDIR)/libdapl_%.so) $(LIBDATCOLL) $(DESTDIR)$(LIBDIR)/dapl_rail
	install -m 644 $(DATCONF).in $(DESTDIR)$(LIBDIR)/dapl_rail
	sed 's|@PROVDIR@|$(LIBDIR)/dapl_rail|' $(DATCONF).in > $(DESTDIR)$(LIBDIR)/dapl_rail/dat.conf
	install -D -m 644 -t $(DESTDIR)$(LIBDIR)/dapl_rail/platforms $(PLATFORMS)
	for pc in dapl_rail/dapl_rail coll/dcoll dsm/ddsm; do \
	  sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
	    -e 's|@VERSION@|$(VERSION)|' $$pc.pc.in \
	    > $(DESTDIR)$(LIBDIR)/pkgconfig/$${pc##*/}.pc; done
	install -m 644 dapl_rail/dapl_rail.h dapl_rail/batch.h $(DESTDIR)$(PREFIX)/include/dapl_rail
	install -m 644 providers/core/collectives/hook.h $(DESTDIR)$(PREFIX)/include/dapl_rail/collectives.h
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/include/coll coll/dcoll.h coll/schedule.h
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/include/dsm dsm/ddsm.h
	$(foreach page,$(INSTALL_MAN),install -D -m 644 $(page) \
	  $(DESTDIR)$(call man_target,$(page)) &&) true
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/libexec/dapl_rail $(INSTALL_SUITE:%=scripts/%)
	$(foreach module,$(INSTALL_PYTHON),install -D -m 644 tools/$(module) \
	  $(DESTDIR)$(PREFIX)/libexec/dapl_rail/$(module) &&) true
	install -D -m 644 $(COMPLETION) $(DESTDIR)$(COMPDIR)/railbench
	ln -sf railbench $(DESTDIR)$(COMPDIR)/railinfo
	install -m 644 LICENSE $(DESTDIR)$(DOCDIR)

uninstall:
	rm -f $(addprefix $(DESTDIR),$(INSTALLED))
	-rmdir $(addprefix $(DESTDIR),$(LIBDIR)/railomp $(LIBDIR)/dapl_rail/platforms $(LIBDIR)/dapl_rail \
	  $(PREFIX)/include/dapl_rail $(PREFIX)/include/coll $(PREFIX)/include/dsm $(DOCDIR) \
	  $(addprefix $(PREFIX)/libexec/,dapl_rail/railtools/plot dapl_rail/railtools dapl_rail))
