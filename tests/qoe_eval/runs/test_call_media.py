"""The media of virtual calls, whose files another distribution makes."""

from types import SimpleNamespace

import pytest

from weir_cli.errors import MissingComponent
from weir_eval.runs import call_media
from weir_eval.runs.call_media import CallMedia, Encoder, with_sources


def test_the_fake_encoder_needs_no_files(monkeypatch):
    monkeypatch.setattr(call_media, "entry_points", lambda group: [])
    assert with_sources(CallMedia(Encoder.FAKE)) == CallMedia(Encoder.FAKE)


def test_without_weir_calls_other_encoders_are_refused_with_the_package_that_has_them(monkeypatch):
    monkeypatch.setattr(call_media, "entry_points", lambda group: [])
    with pytest.raises(MissingComponent, match="media of the encoder VP8 need the package weir-calls"):
        with_sources(CallMedia(Encoder.VP8))


def test_the_registered_function_makes_the_files(monkeypatch):
    made = CallMedia(Encoder.VP8, width=80, height=40)
    entry = SimpleNamespace(load=lambda: lambda media: made)
    monkeypatch.setattr(call_media, "entry_points", lambda group: [entry])
    assert with_sources(CallMedia(Encoder.VP9)) is made
