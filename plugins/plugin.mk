# The part that every plug-in's Makefile includes: settings, help, and the calls from Chromium (plugins/browser).
# The Makefile sets NAME and has the targets `test` (no browser) and `peer` (writes $(PEER), the receiving program).
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

ROOT := $(abspath ../..)
BROWSER := $(ROOT)/plugins/browser
PEER := $(ROOT)/build/plugins/peers/$(NAME)
OUT ?= $(ROOT)/build/plugins/$(NAME)-calls
CALLS = $(MAKE) -C $(ROOT) build/stamps/call && $(ROOT)/.venv/bin/python $(BROWSER)

.PHONY: help
help: ## List the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.PHONY: test-browser
test-browser: peer ## Chromium sends over a link of 1.5, 0.6 and 1.5 Mbps (as root, a minute); OUT=DIR takes the calls
	$(CALLS)/phases.py $(PEER) --out $(OUT)

.PHONY: compare
compare: peer ## Chromium sends over ten held-out scenarios, to Weir and to the same stack without it (as root)
	$(CALLS)/compare.py $(PEER) --out $(OUT)
