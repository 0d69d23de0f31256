# The part that the Makefile of a plug-in in Go includes after plugin.mk. MODULES are the folders of its modules.
BUILD := $(ROOT)/build/plugins

# Status 3, missing component, where Go or a compiler is not here.
.PHONY: toolchain
toolchain:
	@$(ROOT)/plugins/pion/toolchain.sh $(NAME)
	@$(MAKE) --silent -C $(ROOT) amalgamation

.PHONY: lint
lint: toolchain
	@unformatted=$$(gofmt -l $(MODULES)); [ -z "$$unformatted" ] || { echo "gofmt -w $$unformatted" >&2; exit 1; }
	for module in $(MODULES); do go -C $$module vet ./...; done

.PHONY: test
test: lint ## The tests without a browser
	for module in $(MODULES); do go -C $$module test -race ./...; done
