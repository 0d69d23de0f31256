# Weir's commands. `make` lists them; CI calls nothing else.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

VENV := .venv
PYTHON ?= python3
# uv from PATH, or one that is installed into build/tools.
UV ?= $(shell command -v uv || echo build/tools/bin/uv)
export VIRTUAL_ENV := $(abspath $(VENV))
# Where Python may not write byte code, each start would compile thousands of modules again.
export UV_COMPILE_BYTECODE := 1
BIN := $(VENV)/bin
REPORT_DIR ?= build/report
SEEDS ?= 5

.PHONY: help
help: ## List the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

# --- set-up ---------------------------------------------------------------------------------------------------------

build/stamps/packages: docker/packages.txt docker/packages.sh docker/libtgowt.sh
	docker/packages.sh docker/packages.txt
	docker/libtgowt.sh build/libtgowt
	mkdir -p $(@D) && touch $@

build/tools/bin/uv: | build/stamps/packages
	$(PYTHON) -m venv build/tools
	build/tools/bin/pip install --quiet --disable-pip-version-check uv

# One environment. A stamp is as new as the lock file it was made from.
build/stamps/run: build/stamps/packages requirements/run.txt docker/onnxruntime.sh | $(UV)
	[ -x $(BIN)/python ] || $(UV) venv --quiet --python $(PYTHON) $(VENV)
	$(UV) pip uninstall --quiet weir # what this distribution was called once
	$(UV) pip install --quiet --require-hashes -r requirements/run.txt
	docker/onnxruntime.sh build/onnxruntime $(BIN)/python
	touch $@

# torch for the CPU comes from PyTorch's own index, whose hashes the lock does not have. Where that cannot be reached
# there is only torch for CUDA, which does not start without CUDA's libraries, not even on a machine without a GPU. Users
# ask for these 6 GB with CUDA=1; what tests need is installed unasked (ALLOW_CUDA).
TORCH = $(shell sed -n 's/^\(torch==[^ ]*\).*/\1/p' requirements/cuda.txt)
LOCKED = $(UV) pip install --require-hashes --no-deps
INSTALL_TORCH = $(UV) pip install --no-deps --torch-backend=cpu $(TORCH) || { \
	  [ -n "$(CUDA)$(ALLOW_CUDA)" ] || { \
	    echo "weir: torch without CUDA cannot be had here (see above); with CUDA it takes 6 GB:" \
	      "make $(or $(MAKECMDGOALS),train) CUDA=1" >&2; exit 3; }; \
	  echo "weir: torch without CUDA cannot be had here (see above); installing it with CUDA, 6 GB" >&2; \
	  $(LOCKED) -r requirements/cuda.txt; }
build/stamps/train: build/stamps/run requirements/train.txt requirements/cuda.txt
	$(INSTALL_TORCH)
	$(LOCKED) --quiet -r requirements/train.txt
	touch $@

# Packages of the papers, where their folder is.
PAPERS = $(wildcard papers/requirements.txt)

# Ray pins packages that the other environment has newer.
DISTRIBUTED ?= .venv-distributed
build/stamps/distributed: requirements/distributed.txt requirements/cuda.txt $(PAPERS) | build/stamps/run
	[ -x $(DISTRIBUTED)/bin/python ] || $(UV) venv --quiet --python $(PYTHON) $(DISTRIBUTED)
	export VIRTUAL_ENV=$(abspath $(DISTRIBUTED)); $(INSTALL_TORCH)
	VIRTUAL_ENV=$(abspath $(DISTRIBUTED)) $(LOCKED) --quiet -r requirements/distributed.txt
	$(PAPERS:%=VIRTUAL_ENV=$(abspath $(DISTRIBUTED)) $(LOCKED) --quiet -r %)
	touch $@

build/stamps/papers: build/stamps/train $(PAPERS)
	$(PAPERS:%=$(LOCKED) --quiet -r %)
	touch $@

build/stamps/train-cuda: build/stamps/run requirements/train.txt requirements/cuda.txt
	$(LOCKED) --reinstall-package torch -r requirements/cuda.txt
	$(LOCKED) --quiet -r requirements/train.txt
	touch $@

build/stamps/call: build/stamps/run docker/packages-call.txt requirements/call.txt
	docker/packages.sh docker/packages-call.txt
	$(UV) pip install --quiet --require-hashes -r requirements/call.txt
	touch $@

# libwebrtc with Weir's patches: for the peer and the simulator, and, with its debug checks, for tests under sanitizers.
LIBWEBRTC = build/libwebrtc/version
CHECKED = build/libwebrtc/checked/version
WITH_GN = $(shell find estimator/BUILD.gn estimator/include estimator/src webrtc_patch/adapter estimator/models/weir.onnx -type f)
$(LIBWEBRTC): build/stamps/call $(wildcard webrtc_patch/libwebrtc/* webrtc_patch/patches/*) $(WITH_GN)
	webrtc_patch/libwebrtc/build.sh build/libwebrtc
	touch $@
$(CHECKED): $(LIBWEBRTC)
	webrtc_patch/libwebrtc/build.sh build/libwebrtc --checked
	touch $@

build/stamps/test: ALLOW_CUDA = 1
build/stamps/test: build/stamps/train requirements/test.txt docker/packages-test.txt
	docker/packages.sh docker/packages-test.txt
	$(UV) pip install --quiet --require-hashes -r requirements/test.txt
	touch $@

build/stamps/docs: build/stamps/run requirements/docs.txt docker/packages-docs.txt
	docker/packages.sh docker/packages-docs.txt
	$(UV) pip install --quiet --require-hashes -r requirements/docs.txt
	touch $@

# The distributions of this repository; a clone may lack those at the edge, hence --no-sources: uv refuses a workspace
# that lacks a member. The build of the library's builds the programs, too.
DISTRIBUTIONS = $(patsubst %/pyproject.toml,%,$(wildcard */pyproject.toml))
# With --verbose uv passes on what ninja writes.
INSTALL = docker/progress.sh build/install.log $(UV) pip install --verbose --no-build-isolation --no-deps --no-sources \
          $(DISTRIBUTIONS:%=--editable ./%) \
          --config-settings=cmake.define.WEIR_BUILD_PEER=$(if $(shell ls $(LIBWEBRTC) 2>/dev/null),ON,OFF)
BUILDING = building: ten minutes on two cores the first time, then seconds

.PHONY: build
build: build/stamps/run ## Install what is missing, build, and install `weir` and `weir-sim` into .venv
	@echo "$(BUILDING)"
	$(INSTALL)

.PHONY: train
train: build build/stamps/train$(if $(CUDA),-cuda) build/stamps/papers ## Install what `weir train` and `weir export` need: torch without CUDA; CUDA=1: with it

.PHONY: distributed
distributed: build build/stamps/distributed ## Install Ray and what training needs, with Weir, into .venv-distributed: clusters for `weir replay`, `tune`, `train`
	VIRTUAL_ENV=$(abspath $(DISTRIBUTED)) $(INSTALL)

# From one configuration, in about an hour on two cores; goes on from the checkpoint when it was interrupted. One of its
# stages is on libwebrtc's stack.
MODEL_DIR ?= build/model
MODEL_RUN = $(MODEL_DIR)/run
.PHONY: model
model: webrtc train ## Train a model like the shipped one: train, export, replay, card; writes build/model/weir.onnx and weir.md
	$(BIN)/weir train trainer/configs/weir.toml --out $(MODEL_RUN) $$([ ! -e $(MODEL_RUN)/checkpoint.zip ] || echo --resume)
	$(BIN)/weir export $(MODEL_RUN) --out $(MODEL_DIR)/weir.onnx --force
	$(BIN)/weir replay catalogue --model $(MODEL_DIR)/weir.onnx --seeds $(SEEDS) --out $(MODEL_DIR)/report
	$(BIN)/weir model $(MODEL_DIR)/weir.onnx --card --summary $(MODEL_DIR)/report/summary.json

# Those in C++ are built again only after a change of what they are built from.
WHEELS = $(DISTRIBUTIONS:%=build/stamps/wheel-%)
.PHONY: wheels
wheels: $(WHEELS) ## Build a wheel of each distribution into build/dist; weir-sim's has the program

build/stamps/wheel-%: | build/stamps/run
	rm -f build/dist/$(subst -,_,$(shell sed -n 's/^name = "\(.*\)"/\1/p' $*/pyproject.toml))-*.whl
	$(UV) build --quiet --no-build-isolation --python $(BIN)/python --out-dir build/dist \
	  --config-setting=cmake.define.ONNXRUNTIME_ROOT=$(abspath build/onnxruntime) --wheel $*
	touch $@
SOURCES_OF = $(shell find $(1) -type f -not -path '*/__pycache__/*' 2>/dev/null)
$(foreach folder,$(DISTRIBUTIONS),$(eval build/stamps/wheel-$(folder): $$(call SOURCES_OF,$(folder))))
build/stamps/wheel-simulator: $(call SOURCES_OF,estimator/include estimator/src programs webrtc_patch/adapter)

.PHONY: build-test
build-test: build/stamps/test build/stamps/call build/stamps/papers ## Install what tests and calls need, and build all programs: torch, Chromium
	@echo "$(BUILDING)"
	$(INSTALL) --config-settings=cmake.define.WEIR_BUILD_TESTS=ON --config-settings=cmake.define.WEIR_BUILD_BENCHMARKS=ON \
	  --config-settings=cmake.define.CMAKE_COMPILE_WARNING_AS_ERROR=ON

.PHONY: webrtc
webrtc: build/stamps/run $(LIBWEBRTC) ## Install what calls need: libwebrtc (fetches 950 MB, half an hour of a core), `weir-peer`, Chromium
	$(INSTALL)

.PHONY: chromium-patch
chromium-patch: ## Write build/chromium/weir.patch, with which a Chromium checkout builds with Weir
	webrtc_patch/chromium/make_patch.sh build/chromium/weir.patch

# --- use and tests -------------------------------------------------------------------------------------------------

# The columns of README's table. A weir-sim without `make webrtc` has no scream.
REPORTED = weir weir-send gcc $(if $(wildcard $(LIBWEBRTC)),scream) gcc-remb nada pcc rule
.PHONY: report
report: build ## Replay the bundled scenarios with the controllers of README's table (SEEDS=1 is quicker); writes build/report/report.html
	$(BIN)/weir replay catalogue --families --seeds $(SEEDS) --out $(REPORT_DIR) $(REPORTED:%=--controller %)

.PHONY: test
test: ## Run the checks of every change: lint, C++ tests, sanitizers, each distribution alone; goes on after a failure
	@tests/all.sh libwebrtc build-test lint test-cpp asan $(ALONE) test-workspace

.PHONY: libwebrtc
libwebrtc: build/stamps/call
	@webrtc_patch/libwebrtc/fetch.sh "$${XDG_CACHE_HOME:-$$HOME/.cache}/weir" --fetched >/dev/null
	$(MAKE) $(LIBWEBRTC)

.PHONY: test-cpp
test-cpp: build-test ## The C++ tests alone
	ctest --test-dir build/release --output-on-failure -j $$(nproc)
	cmake --preset debian -DPython_EXECUTABLE=$(abspath $(BIN))/python >/dev/null
	cmake --build --preset debian
	WEIR_SIM=$(abspath build/debian/simulator/weir-sim) $(BIN)/pytest -q tests/commands/test_fingerprint.py

# In folders and environments of their own: build/alone.
ALONE = $(DISTRIBUTIONS:%=test-%)
.PHONY: $(ALONE)
$(filter-out test-estimator,$(ALONE)): test-%: wheels build/stamps/test build/stamps/call build/stamps/papers
	UV=$(abspath $(UV)) tests/alone.sh $*

# From nothing in minutes: only the packages of docker/packages-estimator.txt.
test-estimator: ## The library alone: C++, C and Python tests, without ns-3, libwebrtc and the other folders
	docker/packages.sh docker/packages-estimator.txt
	[ -x "$(UV)" ] || { $(PYTHON) -m venv build/tools && build/tools/bin/pip install --quiet --disable-pip-version-check uv; }
	UV=$(abspath $(UV)) tests/alone_estimator.sh

.PHONY: test-workspace
test-workspace: build-test ## The Python tests of what distributions have in common: structure, documents, installation, plug-ins
	$(BIN)/pytest -n $$(nproc) --dist worksteal --durations=30 --durations-min=5 \
	  tests/commands tests/fuzz tests/install tests/lint tests/plugins tests/structure

.PHONY: test-python
test-python: build-test ## All Python tests in one environment
	$(BIN)/pytest -n $$(nproc) --dist worksteal --durations=30 --durations-min=5

.PHONY: test-distributed
test-distributed: ALLOW_CUDA = 1
test-distributed: build-test distributed ## Train, search and replay over two Ray nodes, one of which is killed
	WEIR_DISTRIBUTED=$(DISTRIBUTED)/bin $(BIN)/pytest -s $(wildcard papers/tests/impala) tests/qoe_eval/distributed

.PHONY: bench
bench: build-test ## Measure; writes build/bench.json; then servers of 500 subscribers in Go
	$(BIN)/weir bench --build-dir build/release --out build/bench.json --force
	$(MAKE) -C plugins/pion bench

.PHONY: cite
cite: build/stamps/test ## Write the documents of docs/src, with the values of docs/results/*.json
	$(BIN)/python docs/pages.py
	$(BIN)/weir model estimator/models/weir.onnx --card

# An evening on two cores. WEIR_SHARED names the folder with traces/opennetlab and traces/mahimahi.
.PHONY: results
results: webrtc build-test ## Measure replays and speed again, write docs/results/*.json, and put the numbers into the documents
	$(BIN)/python -m weir_eval.fingerprint
	for suite in opponents policy impairments natural safety virtual; do \
	  $(BIN)/weir evaluate --suite $$suite --out build/results/$$suite --record docs/results/$$suite.json; \
	done
	for suite in repair shared-queues steering; do \
	  $(BIN)/weir evaluate --suite $$suite --seeds 2 --out build/results/$$suite --record docs/results/$$suite.json; \
	done
	$(BIN)/weir evaluate --suite layers --out build/results/layers --record docs/results/layers.json
	$(BIN)/python -m weir_suites.path_accuracy build/results/whatif docs/results/whatif.json
	$(BIN)/weir bench --build-dir build/release --out build/bench.json --force --record docs/results/speed.json
	$(MAKE) cite

RESULTS_CALLS = $(BIN)/weir evaluate --suite calls --set cellular --set impaired --size 640x360 --seeds 1 \
  --out build/results/calls --record docs/results/calls.json

RESULTS_LOSSES = $(BIN)/weir evaluate --suite losses --seeds 1 --out build/results/losses \
  --record docs/results/losses.json

# The second time makes those calls again that failed, or that the machine disturbed.
.PHONY: results-calls
results-calls: webrtc build-test ## Make calls of the documents again and write docs/results/calls.json and losses.json (80 minutes on an idle machine)
	-$(RESULTS_CALLS)
	$(RESULTS_CALLS)
	-$(RESULTS_LOSSES)
	$(RESULTS_LOSSES)
	$(MAKE) cite

# Resumable by paper: build/papers has what is complete. WEIR_SHARED names the folder with traces/opennetlab and
# traces/mahimahi.
.PHONY: papers
papers: train ## Repeat the five papers and write docs/results/papers.json (8 hours on two cores); SMALL=1: in minutes, no record
	$(BIN)/weir paper all $(if $(SMALL),--small --out build/papers-small,--out build/papers --record docs/results/papers.json)
	$(if $(SMALL),,$(BIN)/python docs/pages.py papers/README.md)

.PHONY: soak
SOAK_PACKETS ?= 100000000
soak: build-test ## One estimator for SOAK_PACKETS packets (10^8, 24 simulated hours): flat memory, no allocation
	build/release/tests/soak/weir_soak $(SOAK_PACKETS)

.PHONY: asan
asan: build/stamps/test ## The library's tests under AddressSanitizer and UndefinedBehaviorSanitizer
	cmake --preset asan -DPython_EXECUTABLE=$(abspath $(BIN))/python >/dev/null
	cmake --build --preset asan
	ctest --preset asan -j $$(nproc)

.PHONY: tsan
tsan: build/stamps/test $(CHECKED) ## The tests of the library and of the adapter to libwebrtc, under ThreadSanitizer
	cmake --preset tsan -DPython_EXECUTABLE=$(abspath $(BIN))/python >/dev/null
	cmake --build --preset tsan
	ctest --preset tsan -j $$(nproc)

.PHONY: test-chromium
test-chromium: docker/packages-chromium.txt ## Compile each file of that patch in Chromium's own build, the newest served or MILESTONE=150 (950 MB, 7 GB)
	docker/packages.sh $<
	webrtc_patch/chromium/check.sh build/chromium $(MILESTONE)

.PHONY: fuzz
FUZZ_SECONDS ?= 60
fuzz: build/stamps/test ## Every fuzz target for FUZZ_SECONDS (60)
	cmake --preset fuzz -DPython_EXECUTABLE=$(abspath $(BIN))/python >/dev/null
	cmake --build --preset fuzz
	mkdir -p build/fuzz/corpus/model
	find build/fuzz/tests/models -name '*.onnx' -size -16k -exec cp -n {} build/fuzz/corpus/model \;
	for target in build/fuzz/tests/fuzz/*_fuzzer; do \
	  name=$$(basename $$target _fuzzer); echo "== $$name"; mkdir -p build/fuzz/corpus/$$name tests/fuzz/corpus/$$name; \
	  $$target -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 build/fuzz/corpus/$$name tests/fuzz/corpus/$$name; \
	done

.PHONY: test-install
test-install: ## Install in a bare Debian 12 root (as root): the first command, without the clone, the image
	tests/install/run.sh

.PHONY: test-docker
test-docker: ## Build and run the images (as root)
	tests/install/images.sh weir weir-train weir-distributed weir-call

.PHONY: chaos
chaos: webrtc build-test ## Every process of a call killed or stopped at every stage, and 100,000 races for each file; `make test` has a few
	WEIR_CHAOS=all $(BIN)/pytest tests/calls/call/chaos
	WEIR_RACE=100000 $(BIN)/pytest tests/cli/test_files.py -k race

.PHONY: mutants
MUTANTS ?= 100000
mutants: build-test ## Load MUTANTS (100000) damaged models
	$(BIN)/python tests/fuzz/mutated_models.py $(MUTANTS) --folder build

# The library as one file, also inside the modules that compile it.
PLUGINS = $(patsubst plugins/%/Makefile,%,$(wildcard plugins/*/Makefile))
.PHONY: amalgamation
amalgamation: ## Write weir.cc, its headers and the shipped model as data (seconds) into build/amalgamation and the modules that compile it
	$(PYTHON) estimator/amalgamate.py build/amalgamation plugins/gstreamer/src plugins/pion/internal/native plugins/rust

# A compiler for all platforms, and what builds wheels; in an environment of their own.
build/stamps/tools-packages: requirements/packages.txt | $(UV)
	[ -x build/packaging/bin/python ] || $(UV) venv --quiet --python $(PYTHON) build/packaging
	$(UV) pip install --quiet --python build/packaging/bin/python --require-hashes -r requirements/packages.txt
	mkdir -p $(@D) && touch $@

.PHONY: wasm
wasm: amalgamation build/stamps/tools-packages ## Write the library as WebAssembly into plugins/pion, for Go without cgo (2 minutes, 100 MB of zig)
	cd estimator/packages && ../../build/packaging/bin/python -c \
	  'import pathlib, zig; zig.write_webassembly(pathlib.Path("../../plugins/pion/internal/native/weir.wasm").resolve())'

GO_MODULE ?= weir.example/pion
.PHONY: packages
packages: amalgamation build/stamps/tools-packages ## Write packages for Go (GO_MODULE), Rust, Python, Node, C and C++ with checksums and an SBOM into build/packages
	build/packaging/bin/python estimator/packages/write.py build/packages $(GO_MODULE)

.PHONY: test-platforms
test-platforms: amalgamation build/stamps/tools-packages ## Compile the library for macOS, Windows and, with ANDROID_NDK_ROOT, Android
	build/packaging/bin/python estimator/packages/zig.py build/platforms

.PHONY: test-packages
test-packages: packages ## Build and run a consumer of each package outside the clone
	PATH=$(abspath build/packaging/bin):$$PATH tests/plugins/consumers/run.sh build/packages

.PHONY: $(PLUGINS:%=test-plugin-%)
$(PLUGINS:%=test-plugin-%): test-plugin-%: webrtc build-test
	$(MAKE) -k -C plugins/$* test test-browser

.PHONY: test-plugins
test-plugins: ## Test the plug-ins, alone and with Chromium
	tests/all.sh $(PLUGINS:%=test-plugin-%)

# The slowest are last.
CHECKS ?= test test-distributed docs tidy tsan fuzz mutants soak chaos $(PLUGINS:%=test-plugin-%) test-chromium test-packages test-platforms test-install test-docker
.PHONY: test-all
test-all: ## Run every check there is (hours; as root), or CHECKS="tsan fuzz"; goes on after a failure, ends with a table
	@tests/all.sh $(if $(filter test,$(CHECKS)),webrtc) $(CHECKS)

# --- housekeeping ---------------------------------------------------------------------------------------------------

CXX_FILES = git ls-files --cached --others --exclude-standard '*.cc' '*.h'

# All clones share what passes, as they do with ccache.
TIDY = $(BIN)/python tests/lint/tidy.py build/release "$${XDG_CACHE_HOME:-$$HOME/.cache}/weir/tidy"

.PHONY: lint
lint: build-test ## Check style, words and types and look for faults: ruff, words, numbers of documents, clang-format, mypy, clang-tidy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tests/lint/words.py
	$(BIN)/python docs/pages.py --check
	$(BIN)/mypy $(wildcard */weir_* estimator/python/weir examples/python plugins/aiortc/weir_aiortc plugins/browser)
	$(CXX_FILES) | xargs $(BIN)/clang-format --dry-run --Werror
	$(TIDY) $$(git ls-files 'calls/*.cc' 'estimator/*.cc' 'logs/*.cc' 'programs/*.cc' 'simulator/*.cc' 'webrtc_patch/*.cc')

.PHONY: tidy
tidy: build-test ## clang-tidy over every C++ file that has changed since it last passed; lint excludes those of tests
	$(TIDY)

.PHONY: format
format: build/stamps/test ## Format all code
	$(BIN)/ruff check --fix --exit-zero .
	$(BIN)/ruff format .
	$(CXX_FILES) | xargs $(BIN)/clang-format -i

.PHONY: docs
docs: build build/stamps/docs ## Build the site from READMEs, docstrings and headers: build/docs/index.html
	rm -rf build/docs && mkdir -p build/docs/cpp
	{ cat docs/Doxyfile; echo "PROJECT_NUMBER = $$($(BIN)/python -c 'import weir; print(weir.__version__)')"; } | doxygen -
	$(BIN)/sphinx-build -q -W --keep-going -j auto -c docs . build/docs
	ln -sf README.html build/docs/index.html
	@echo "build/docs/index.html"

# uv.lock would name the host of the package index; these files are the one lock of the workspace instead.
LOCK = $(UV) pip compile --quiet --upgrade --python-version 3.11 --no-header --no-annotate --no-emit-index-url --generate-hashes
OWN = $(shell sed -n 's/^name = "\(.*\)"/\1/p' */pyproject.toml)
COMPILE = $(LOCK) $(OWN:%=--no-emit-package %) --group pyproject.toml:build \
          $(patsubst %,%/pyproject.toml,$(filter-out calls papers,$(DISTRIBUTIONS)))

# Packages with CUDA go into cuda.txt, the others into $(1).txt.
WITHOUT_CUDA = awk '/^[a-z]/ { cuda = /^(torch|triton|cuda|nvidia)[-=]/ } { print > ("requirements/" (cuda ? "cuda" : "$(1)") ".txt") }'

.PHONY: lock
lock: | $(UV) ## Pin the newest versions of the Python dependencies
	$(COMPILE) -o requirements/run.txt
	mkdir -p build
	$(COMPILE) calls/pyproject.toml -c requirements/run.txt -o requirements/call.txt
	$(COMPILE) --extra learning -c requirements/call.txt -o build/train.txt
	$(call WITHOUT_CUDA,train) build/train.txt
	$(LOCK) --group pyproject.toml:packages -o requirements/packages.txt
	awk '/^[a-z]/ { skip = /^gymnasium=/ } !skip' build/train.txt > build/constraints.txt
	$(COMPILE) --extra learning --extra distributed -c build/constraints.txt -o build/distributed.txt
	$(call WITHOUT_CUDA,distributed) build/distributed.txt
	$(COMPILE) --group pyproject.toml:test -c requirements/train.txt -o requirements/test.txt
	$(COMPILE) --group pyproject.toml:docs -c requirements/test.txt -o requirements/docs.txt
	$(PAPERS:%=grep -o '"scikit-learn[^"]*"' papers/pyproject.toml | tr -d '"' | $(LOCK) -c requirements/train.txt - -o %)

.PHONY: clean
clean: ## Remove everything that was built
	rm -rf build $(VENV) $(DISTRIBUTED)
