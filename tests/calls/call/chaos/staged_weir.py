"""`weir ARGUMENTS`, held at each stage of its call: `staged_weir.py SETTINGS ARGUMENTS...`.

SETTINGS is JSON: `stages`, the descriptor to which the text of each state goes as a line; `go`, the one from which a
byte is then read; `limits`, values for constants by "module:NAME", so that what hangs is given up in a test's time.
"""

import importlib
import json
import os
import sys

from weir_calls.call import session
from weir_cli.main import main


def stop_at_stages(stages, go):
    make = session._Call.__init__

    def make_staged(call, settings, on_event, control, barrier):
        def on_staged_event(event):
            on_event(event)
            if event["type"] == "state":
                os.write(stages, event["text"].encode() + b"\n")
                os.read(go, 1)

        make(call, settings, on_staged_event, control, barrier)

    session._Call.__init__ = make_staged


if __name__ == "__main__":
    settings = json.loads(sys.argv[1])
    for name, value in settings["limits"].items():
        module, _, constant = name.partition(":")
        setattr(importlib.import_module(module), constant, value)
    stop_at_stages(settings["stages"], settings["go"])
    sys.argv = ["weir", *sys.argv[2:]]
    main()
