# `make help` lists what there is. Paths are relative, because the name of this folder may hold spaces.
#
# Everything is set up here, below .venv, .zig and .cmake, from Python alone: Zig comes from PyPI too.

PYTHON ?= python3
ZIG_16 := 0.16.0
ZIG_17 := 0.17.1
TRITON := 3.7.1
OLD_CMAKE := 3.26.4

VENV := .venv/bin/python
ZIG_17_EXE := .zig/$(ZIG_17)/ziglang/zig
OLD_CMAKE_BIN := .cmake/$(OLD_CMAKE)/cmake/data/bin
EXAMPLE := examples/qwen27
# As seen from the example's folder.
CAPTURE := -Dcapture=true -Dcapture-python=../../$(VENV)
# Files in their order: sorted by how many tests they have, the longest of them would come last.
TWO_AT_A_TIME := -n 2 --dist loadfile --no-loadscope-reorder
# The environment that says to the tests which Zig is which.
ZIGS = BUILD_CAPTURE_ZIG_0_16="$$PWD/$$($(VENV) -c '$(ZIG_PATH)')" BUILD_CAPTURE_ZIG_0_17="$$PWD/$(ZIG_17_EXE)"
ZIG_PATH := import os, ziglang; print(os.path.relpath(os.path.join(os.path.dirname(ziglang.__file__), "zig")))

.PHONY: help capture test test-full zig-tests clean
.DELETE_ON_ERROR:

help:
	@echo 'make capture    capture the kernels of examples/qwen27 for its target, install the set and print what it holds'
	@echo 'make test       run the tests of the Python and of the Zig, with Zig $(ZIG_16) and $(ZIG_17)'
	@echo 'make test-full  the same, with the tests that take long'
	@echo 'make clean      remove what was built and captured; .venv, .zig and .cmake stay'

capture: .venv/capture-is-installed
	@echo '== capture the kernels of $(EXAMPLE)'
	cd $(EXAMPLE) && ../../$(VENV) -m ziglang build $(CAPTURE) --summary all
	@cd $(EXAMPLE) && ../../$(VENV) -m ziglang build capture-report $(CAPTURE)

test: zig-tests
	@echo '== test the Python'
	@$(ZIGS) $(VENV) -m pytest $(TWO_AT_A_TIME) -m 'not full'

test-full: zig-tests $(OLD_CMAKE_BIN)
	@echo '== test the Python, the long tests too'
	@$(ZIGS) BUILD_CAPTURE_CMAKE_3_26="$$PWD/$(OLD_CMAKE_BIN)" $(VENV) -m pytest $(TWO_AT_A_TIME)

zig-tests: .venv/tests-are-installed $(ZIG_17_EXE)
	@echo '== test the Zig with $(ZIG_16)'
	$(VENV) -m ziglang build test --summary all
	@echo '== test the Zig with $(ZIG_17) (the first build with it compiles its build runner: minutes, once)'
	$(ZIG_17_EXE) build test --summary all

$(VENV):
	@'$(PYTHON)' -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo 'error: $(PYTHON) is missing or older than Python 3.10; try make PYTHON=/path/to/python3' >&2; exit 4; }
	@echo '== make .venv'
	'$(PYTHON)' -m venv .venv

.venv/capture-is-installed: pyproject.toml | $(VENV)
	@echo '== install build-capture, Triton $(TRITON) and Zig $(ZIG_16) into .venv'
	$(VENV) -m pip install --quiet --disable-pip-version-check --editable '.[zig]' 'ziglang==$(ZIG_16)' 'triton==$(TRITON)'
	@touch $@

.venv/tests-are-installed: pyproject.toml | $(VENV)
	@echo '== install build-capture, what its tests need, Triton $(TRITON) and Zig $(ZIG_16) into .venv'
	$(VENV) -m pip install --quiet --disable-pip-version-check --editable '.[test,zig]' 'ziglang==$(ZIG_16)' 'triton==$(TRITON)'
	@touch $@ .venv/capture-is-installed

$(ZIG_17_EXE): | $(VENV)
	@echo '== install Zig $(ZIG_17) below .zig'
	$(VENV) -m pip install --quiet --disable-pip-version-check --target .zig/$(ZIG_17) 'ziglang==$(ZIG_17)'

$(OLD_CMAKE_BIN): | $(VENV)
	@echo '== install CMake $(OLD_CMAKE) below .cmake'
	$(VENV) -m pip install --quiet --disable-pip-version-check --target .cmake/$(OLD_CMAKE) 'cmake==$(OLD_CMAKE)'

clean:
	rm -rf .zig-cache zig-out zig-pkg $(EXAMPLE)/.zig-cache $(EXAMPLE)/zig-out $(EXAMPLE)/zig-pkg build dist .pytest_cache
