"""The commands of this distribution; see `weir_cli.commands`."""

from typing import Any, Final

COMMANDS: Final[dict[str, tuple[Any, str]]] = {
    "webrtc": ("weir_webrtc.check_command:app", "Check the patches that put Weir into libwebrtc."),
}
