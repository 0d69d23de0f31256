"""Estimators of OpenNetLab see its payload types, also in replays and in an estimator of this process."""

import importlib.util
import json
import sys

import pytest

from weir.custom_python_class import CustomPythonClass

START = {"min_bps": 1, "start_bps": 300_000, "max_bps": 10**7, "objective": {}, "seed": 1}
# As in a call of libwebrtc: payload types are negotiated.
NEGOTIATED = {"video": 96, "audio": 111, "probe": 126, "retransmission": 97}
VIDEO_COUNTER = """
import json
import pathlib


class Estimator:
    def __init__(self):
        self.last, self.seen, self.lost, self.intervals, self.known = None, 0, 0, 0, 0

    def report_states(self, stats):
        if stats["payload_type"] != VIDEO:
            return
        number = stats["sequence_number"]
        if self.last is not None:
            self.lost += (number - self.last - 1) % 65536
        self.last = number
        self.seen += 1

    def get_estimated_bandwidth(self):
        self.intervals += 1
        self.known += self.seen > 0
        counts = {"known": self.known / self.intervals, "loss": self.lost / max(self.seen + self.lost, 1)}
        pathlib.Path(__file__).with_name("counts.json").write_text(json.dumps(counts))
        return 500_000
"""


def packet(kind, number):
    return {
        "arrival_time_us": 1000 * number, "ssrc": 7, "sequence_number": number, "payload_type": NEGOTIATED[kind],
        "kind": kind, "header_bytes": 24, "payload_bytes": 1000, "padding_bytes": 0,
    }  # fmt: skip


def decide(controller, kinds):
    packets = [packet(kind, number) for number, kind in enumerate(kinds)]
    return controller.decide({"time_us": 200_000, "objective": {}, "packets": packets})


def test_payload_types_are_those_of_the_gym_whatever_was_negotiated():
    class Estimator:
        seen: list[int] = []  # noqa: RUF012 - of the one object

        def report_states(self, stats):
            self.seen.append(stats["payload_type"])

        def get_estimated_bandwidth(self):
            return 1

    decide(CustomPythonClass(Estimator, START), NEGOTIATED)
    assert Estimator.seen == [126, 103, 98, 98]


@pytest.mark.parametrize("video", [-1, 128, 125.5, "video"])
def test_a_payload_type_of_video_that_is_none_is_refused(video):
    class Estimator:
        video_payload_type = video

        def report_states(self, stats):
            pass

        def get_estimated_bandwidth(self):
            return 1

    with pytest.raises(Exception, match=r"Estimator\.video_payload_type is .*; it must be a whole number, 0 to 127"):
        CustomPythonClass(Estimator, START)


def made_estimator(tmp_path, statement, *, stated="", has_source=True):
    """A class whose `report_states` has a statement, and keeps the payload types of packets that pass it."""
    path = tmp_path / f"estimator_{len(sys.modules)}.py"
    path.write_text(
        f"class Estimator:\n    {stated or 'pass'}\n    seen = []\n\n    def report_states(self, stats):\n"
        f'        {statement}\n        self.seen.append(stats["payload_type"])\n\n'
        "    def get_estimated_bandwidth(self):\n        return 1\n"
    )
    specification = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(specification)
    sys.modules[path.stem] = module
    specification.loader.exec_module(module)
    if not has_source:
        path.unlink()
    return module.Estimator


ALL = [126, 103, 98, 98]
OTHER_VIDEO = [125, 103, 98, 98]


@pytest.mark.parametrize(
    ("statement", "seen"),
    [
        ('if stats["payload_type"] != 125: return', [125]),
        ('if 125 != stats["payload_type"]: return', [125]),
        ('if stats["payload_type"] != 125 or not stats["ssrc"]: return', [125]),
        ('if stats["payload_type"] == 125: self.last = stats["sequence_number"]', OTHER_VIDEO),
        ('self.is_video = stats.get("payload_type") == 125', OTHER_VIDEO),
        ('if stats["payload_type"] == 98 or stats["payload_type"] == 125: self.number = 1', OTHER_VIDEO),
        ('if stats["payload_type"] != 126: return', [126]),
        # Only skipped, several, none of video, or no literal.
        ('if stats["payload_type"] == 125: return', ALL),
        ('if stats["payload_type"] != 125: self.others = 1', ALL),
        ('self.is_video = stats["payload_type"] == 125 or stats["payload_type"] == 126', ALL),
        ('self.is_video = stats["payload_type"] == 125 or stats["payload_type"] == 124', ALL),
        ('if stats["payload_type"] == 98: return', [126, 103]),
        ('if stats["payload_type"] == 98: self.probes = 1', ALL),
        ('if stats["payload_type"] == 1250: self.last = 1', ALL),
        ('if stats["payload_size"] == 125: self.last = 1', ALL),
        ('if stats["payload_type"] != int("125"): return', []),
    ],
)
def test_video_has_the_payload_type_by_which_the_source_filters(tmp_path, statement, seen):
    file = made_estimator(tmp_path, statement)
    decide(CustomPythonClass(file, START), NEGOTIATED)
    assert file.seen == seen


@pytest.mark.parametrize("options", [{"stated": "video_payload_type = 126"}, {"has_source": False}])
def test_a_stated_payload_type_comes_first_and_without_source_it_is_that_of_the_gym(tmp_path, options):
    file = made_estimator(tmp_path, 'if stats["payload_type"] == 125: self.last = 1', **options)
    decide(CustomPythonClass(file, START), NEGOTIATED)
    assert file.seen == ALL


def test_an_estimator_may_grow_without_end():
    class Estimator:
        def report_states(self, stats):
            pass

        def get_estimated_bandwidth(self):
            return 10**13

    assert decide(CustomPythonClass(Estimator, START), []) == 10**7


def test_other_controllers_see_what_was_negotiated():
    class Controller:
        def __init__(self, constraints):
            pass

        def on_packets(self, packets):
            assert [packet["payload_type"] for packet in packets] == list(NEGOTIATED.values())

        def on_timeout(self, now_us):
            return 1

    assert decide(CustomPythonClass(Controller, START), NEGOTIATED) == 1


@pytest.mark.parametrize(("video", "is_stated"), [(126, False), (125, False), (125, True)])
def test_an_estimator_that_counts_video_sees_its_loss_in_a_replay(real_simulator, run_weir, tmp_path, video, is_stated):
    (tmp_path / "video.py").write_text(VIDEO_COUNTER.replace("VIDEO", str(video)))
    controller = "video.py:Estimator"
    if is_stated:
        controller = "stated.py:Stated"
        (tmp_path / "stated.py").write_text(
            f"from video import Estimator\n\n\nclass Stated(Estimator):\n    video_payload_type = {video}\n"
        )
    entry = {"duration": 60_000, "capacity": 3000, "loss": 0.08, "rtt": 60}
    (tmp_path / "lossy.json").write_text(json.dumps({"uplink": {"trace_pattern": [entry]}}))
    status, _, errors = run_weir("replay", "lossy.json", "--controller", controller, "--out", "out")
    assert status == 0, errors
    counts = json.loads((tmp_path / "counts.json").read_text())
    assert counts["known"] > 0.95
    assert counts["loss"] == pytest.approx(0.08, abs=0.02)
