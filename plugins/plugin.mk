# The part that every plug-in's Makefile includes: settings, help, and the calls from Chromium (browser/calls.mk). The
# Makefile sets NAME and has the targets `test` (no browser) and `peer` (writes $(PEER), the receiving program). One
# without a receiver sets SENDER before it includes this, and has no `peer`; SENDER_CALLS is its own target with calls.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

ROOT := $(abspath ../..)
BROWSER := $(ROOT)/plugins/browser

.PHONY: help
help: ## List the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

ifdef SENDER
.PHONY: test-browser
test-browser: $(SENDER_CALLS)
	@[ -n "$(SENDER_CALLS)" ] || echo "plugins/$(NAME): no calls from Chromium, since it has no receiver"
else
include $(BROWSER)/calls.mk
endif
