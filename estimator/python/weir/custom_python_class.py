"""A custom controller that is a Python class, in an estimator of this process or as a program of JSON lines.

Replays and calls start that program by this file's path: `python -P custom_python_class.py FILE.py CLASS`.
docs/write_a_custom_controller.md has the class and the lines. Nothing of Weir is imported, so that it starts at once.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import random
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

VERSION = 1
# OpenNetLab polls its estimators five times per second.
_OPENNETLAB_INTERVAL_US = 200_000
# Payload types of OpenNetLab's gym, from libwebrtc's tests, by which its estimators filter packets. libwebrtc sends
# probes and padding with the payload type of retransmissions. Estimators may filter by another video type, often 125.
OPENNETLAB_PAYLOAD_TYPES = {"video": 126, "audio": 103, "probe": 98, "retransmission": 98}
_ABS_SEND_TIME_BITS = 24
_ABS_SEND_TIME_TICKS_PER_MS = (1 << 18) / 1000


class OpenNetLabFace:
    """Adapts a class with OpenNetLab's `report_states` and `get_estimated_bandwidth` to Weir's methods.

    Its attributes `interval_us` and `video_payload_type` are optional. Without the latter, video has the payload type
    by which the source of the class filters, if that is found, else the payload type of OpenNetLab's gym.
    """

    interval_us = _OPENNETLAB_INTERVAL_US

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator
        self.interval_us = getattr(estimator, "interval_us", _OPENNETLAB_INTERVAL_US)
        if hasattr(estimator, "video_payload_type"):
            video = estimator.video_payload_type
        else:
            found = _filtered_payload_type(type(estimator))
            video = OPENNETLAB_PAYLOAD_TYPES["video"] if found is None else found
        if video not in range(128):
            name = type(estimator).__name__
            raise _WrongClassError(f"{name}.video_payload_type is {video!r:.60}; it must be a whole number, 0 to 127")
        self._payload_types = OPENNETLAB_PAYLOAD_TYPES | {"video": video}
        # Send time of the last packet that has one; None before the first.
        self._last_ticks: int | None = None
        self._ticks = 0

    def on_packets(self, packets: list[dict[str, Any]]) -> None:
        """Reports each packet in OpenNetLab's format and payload types; send times start at 0 on the sender's clock."""
        for packet in packets:
            self._estimator.report_states(
                {
                    "send_time_ms": self._send_time_ms(packet.get("abs_send_time")),
                    "arrival_time_ms": packet["arrival_time_us"] / 1000,
                    "payload_type": self._payload_types[packet["kind"]],
                    "sequence_number": packet["sequence_number"],
                    "ssrc": packet["ssrc"],
                    "padding_length": packet["padding_bytes"],
                    "header_length": packet["header_bytes"],
                    "payload_size": packet["payload_bytes"],
                }
            )

    def on_timeout(self, now_us: int) -> Any:
        """Returns the estimator's bandwidth in bit/s."""
        return self._estimator.get_estimated_bandwidth()

    def _send_time_ms(self, ticks: int | None) -> float:
        if ticks is not None:
            half, whole = 1 << (_ABS_SEND_TIME_BITS - 1), 1 << _ABS_SEND_TIME_BITS
            if self._last_ticks is not None:
                self._ticks += (ticks - self._last_ticks + half) % whole - half
            self._last_ticks = ticks
        return self._ticks / _ABS_SEND_TIME_TICKS_PER_MS


def _filtered_payload_type(estimator: type) -> int | None:
    """Returns the payload type by which a class filters packets, as in `if stats["payload_type"] != 125: return`.

    Returns None if the source compares with no literal by `==` or `!=`, or with several, apart from the types of audio,
    probes and retransmissions; if it only skips packets of that type; or if there is no source.
    """
    # Imported here, so that other controllers start faster.
    import ast
    import inspect
    import textwrap

    found: set[int] = set()
    for base in estimator.__mro__[:-1]:
        try:
            nodes = list(ast.walk(ast.parse(textwrap.dedent(inspect.getsource(base)))))
        except (OSError, TypeError, SyntaxError):
            continue
        bodies = {part: node.body for node in nodes if isinstance(node, ast.If) for part in ast.walk(node.test)}
        for node in nodes:
            if not isinstance(node, ast.Compare) or "payload_type" not in ast.unparse(node):
                continue
            values = [side.value for side in (node.left, *node.comparators) if isinstance(side, ast.Constant)]
            body = bodies.get(node, [])
            leaves = bool(body) and isinstance(body[-1], ast.Return | ast.Continue)
            does_nothing = leaves and len(body) == 1 and getattr(body[0], "value", None) is None
            is_equal, is_other = (isinstance(node.ops[0], kind) for kind in (ast.Eq, ast.NotEq))
            if (is_equal and not does_nothing) or (is_other and leaves):
                found.update(value for value in values if type(value) is int)
    others = found - {OPENNETLAB_PAYLOAD_TYPES["audio"], OPENNETLAB_PAYLOAD_TYPES["probe"]}
    return others.pop() if len(others) == 1 and others <= set(range(128)) else None


class CustomPythonClass:
    """One object of the user's class, with Weir's methods or OpenNetLab's, for one flow.

    Args:
        user_class: the class, or another callable that makes the object.
        start: min_bps, start_bps, max_bps, objective and seed.
    """

    def __init__(self, user_class: Callable[..., Any], start: dict[str, Any]) -> None:
        self._name = getattr(user_class, "__name__", repr(user_class))
        self._controller: Any = OpenNetLabFace(user_class()) if _is_opennetlab(user_class) else user_class(start)
        self._max_bps = float(start["max_bps"])
        self._objective = start["objective"]
        self._round_trip_time_us = 0
        self.interval_us = getattr(self._controller, "interval_us", 100_000)

    def decide(self, question: dict[str, Any]) -> float:
        """Returns the target in bit/s for time_us, objective, packets and, once it is known, round_trip_time_us."""
        if question["objective"] != self._objective:
            self._objective = question["objective"]
            self._tell("on_objective", self._objective)
        if question.get("round_trip_time_us", 0) != self._round_trip_time_us:
            self._round_trip_time_us = question["round_trip_time_us"]
            self._tell("on_round_trip_time", self._round_trip_time_us)
        self._controller.on_packets(question["packets"])
        return self._checked(self._controller.on_timeout(question["time_us"]))

    def _tell(self, method: str, value: Any) -> None:
        if callable(getattr(self._controller, method, None)):
            getattr(self._controller, method)(value)

    def _checked(self, target: Any) -> float:
        try:
            # float() would accept strings and booleans, including NumPy's.
            no_number = isinstance(target, str | bytes | bytearray) or type(target).__name__ in ("bool", "bool_")
            target_bps = math.nan if no_number else float(target)
        except (TypeError, ValueError, OverflowError):
            target_bps = math.nan
        if not math.isfinite(target_bps):
            method = "get_estimated_bandwidth" if isinstance(self._controller, OpenNetLabFace) else "on_timeout"
            raise _WrongClassError(
                f"{self._name}.{method} returned {target!r:.60}; it must return a number, bits per second"
            )
        # OpenNetLab's gym does not bound rates, and its estimators may grow without limit while the media fits.
        return min(target_bps, self._max_bps) if isinstance(self._controller, OpenNetLabFace) else target_bps


def main(path: Path, class_name: str) -> int:
    """Answers all questions and returns the exit status. An error is one line on standard error."""
    questions, answers = _take_standard_streams()
    try:
        user_class = _load(path, class_name)
        _answer_all(user_class, questions, answers)
    except _WrongClassError as error:
        print(error, file=sys.stderr)
        return 1
    except SyntaxError as error:
        where = f"{Path(error.filename or path).name} line {error.lineno}"
        print(f"{where}: {type(error).__name__}: {error.msg}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 0
    except Exception as error:
        print(f"{_where(error, path)}: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


class _WrongClassError(Exception):
    """The class or its answer is unusable."""


def _take_standard_streams() -> tuple[IO[bytes], IO[str]]:
    """Redirects the controller's prints to standard error and gives it empty input, to protect the JSON lines."""
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    return questions, answers


def _load(path: Path, class_name: str) -> type:
    sys.path.insert(0, str(path.parent))
    specification = importlib.util.spec_from_file_location(path.stem, path)
    if specification is None or specification.loader is None:
        raise _WrongClassError(f"{path.name}: not a Python file")
    module = importlib.util.module_from_spec(specification)
    # pickle and dataclasses look for the module here.
    sys.modules[path.stem] = module
    specification.loader.exec_module(module)
    found = getattr(module, class_name, None)
    if not isinstance(found, type):
        classes = [name for name, value in vars(module).items() if isinstance(value, type)]
        raise _WrongClassError(
            f"{path.name} has no class {class_name}" + (f"; it has {', '.join(classes[:10])}" if classes else "")
        )
    if _is_opennetlab(found):
        return found
    for method in ("on_packets", "on_timeout"):
        if not callable(getattr(found, method, None)):
            raise _WrongClassError(f"{path.name}: the class {class_name} has no method {method}")
    return found


def _is_opennetlab(user_class: Callable[..., Any]) -> bool:
    return all(callable(getattr(user_class, name, None)) for name in ("report_states", "get_estimated_bandwidth"))


def _answer_all(user_class: type, questions: IO[bytes], answers: IO[str]) -> None:
    controller: CustomPythonClass | None = None
    for line in questions:
        question = json.loads(line)
        if question.pop("type") == "start":
            question.pop("version")
            _seed(question["seed"])
            controller = CustomPythonClass(user_class, question)
            answer = {"version": VERSION, "interval_us": controller.interval_us}
        else:
            assert controller is not None, "the first question is a start"
            answer = {"target_bps": controller.decide(question)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _seed(seed: int) -> None:
    """Makes a run draw the same random numbers, even in a process that has made other runs before."""
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % (1 << 32))


def _where(error: Exception, path: Path) -> str:
    """The innermost traceback line in the user's file."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == path]
    return f"{path.name} line {frames[-1].lineno}, in {frames[-1].name}" if frames else path.name


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
