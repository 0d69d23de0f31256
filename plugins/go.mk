# The part that the Makefile of a plug-in in Go includes after plugin.mk. MODULES are the folders of its modules.
# `make` at the top of the repository makes libweir first (`make plugins`).
BUILD := $(ROOT)/build/plugins
PREFIX ?= $(BUILD)/prefix
export PKG_CONFIG_PATH := $(PREFIX)/lib/pkgconfig
export CGO_LDFLAGS := -Wl,-rpath,$(PREFIX)/lib

# Status 3, missing component, where Go or libweir is not here.
.PHONY: toolchain
toolchain:
	@$(ROOT)/plugins/pion/toolchain.sh $(NAME)

.PHONY: lint
lint: toolchain
	@unformatted=$$(gofmt -l $(MODULES)); [ -z "$$unformatted" ] || { echo "gofmt -w $$unformatted" >&2; exit 1; }
	for module in $(MODULES); do go -C $$module vet ./...; done

.PHONY: test
test: lint ## The tests without a browser
	for module in $(MODULES); do go -C $$module test -race ./...; done
