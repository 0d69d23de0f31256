"""Weir as the bandwidth estimator of an aiortc connection that receives."""

from weir_aiortc.attachment import Attachment, attach
from weir_aiortc.transport_tap import UnsupportedAiortcError

__all__ = ["Attachment", "UnsupportedAiortcError", "attach"]
