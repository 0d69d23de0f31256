# The calls from Chromium to a plug-in's receiver, for ../plugin.mk.
PEER := $(ROOT)/build/plugins/peers/$(NAME)
OUT ?= $(ROOT)/build/plugins/$(NAME)-calls
CALLS = $(MAKE) -C $(ROOT) build/stamps/call && $(ROOT)/.venv/bin/python $(BROWSER)

.PHONY: test-browser
test-browser: peer ## Chromium sends over a link of 1.5, 0.6 and 1.5 Mbps (a minute); OUT=DIR takes the calls
	$(CALLS)/phases.py $(PEER) --out $(OUT)

.PHONY: compare
compare: peer ## Chromium sends over ten held-out scenarios, to Weir and to the same stack without it
	$(CALLS)/compare.py $(PEER) --out $(OUT)
