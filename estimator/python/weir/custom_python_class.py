"""Runs a custom controller that is a Python class.

Two hosts use this file. The library imports it and calls `CustomPythonClass` in its own process. Replays and calls
start it by its path, as a program that reads and writes JSON lines: `python -P custom_python_class.py FILE.py CLASS`.
docs/write_a_custom_controller.md describes the class and the lines. Nothing of Weir is imported here, so that the
program starts fast.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import math
import os
import random
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import IO, Any

PROTOCOL_VERSION = 1
_WEIR_METHODS = ("on_packets", "on_timeout")
_OPENNETLAB_METHODS = ("report_states", "get_estimated_bandwidth")
_DEFAULT_INTERVAL_US = 100_000
# OpenNetLab polls its estimators five times per second.
_OPENNETLAB_INTERVAL_US = 200_000
# Payload types of OpenNetLab's gym, from libwebrtc's tests, by which its estimators filter packets. libwebrtc sends
# probes and padding with the payload type of retransmissions. Estimators may filter by another video type, often 125.
OPENNETLAB_PAYLOAD_TYPES = {"video": 126, "audio": 103, "probe": 98, "retransmission": 98}
_PAYLOAD_TYPES = range(128)
_ABS_SEND_TIME_PERIOD = 1 << 24
_ABS_SEND_TIME_TICKS_PER_MS = (1 << 18) / 1000


class UnusableClassError(Exception):
    """The user's class, or a value that it returned, is unusable. The message is for the author of the class."""


# --- The controller of one flow


class CustomPythonClass:
    """One object of the user's class, with Weir's methods or OpenNetLab's, for one flow.

    Args:
        user_class: the class, or another callable that makes the object.
        start: min_bps, start_bps, max_bps, objective and seed.

    Attributes:
        interval_us: time between decisions, as the user's class states it, unchecked.
    """

    def __init__(self, user_class: Callable[..., Any], start: dict[str, Any]) -> None:
        name = getattr(user_class, "__name__", repr(user_class))
        self._controller: Any
        if _has_methods(user_class, *_OPENNETLAB_METHODS):
            self._controller = _OpenNetLabAdapter(user_class())
            self._target_method = f"{name}.get_estimated_bandwidth"
            # OpenNetLab's gym does not bound rates, and its estimators may grow without limit while the media fits.
            self._highest_bps = float(start["max_bps"])
        else:
            self._controller = user_class(start)
            self._target_method = f"{name}.on_timeout"
            self._highest_bps = math.inf
        self.interval_us = getattr(self._controller, "interval_us", _DEFAULT_INTERVAL_US)
        self._objective = start["objective"]
        self._round_trip_time_us = 0

    def decide(self, request: dict[str, Any]) -> float:
        """Returns the target in bit/s for time_us, objective, packets and, once it is known, round_trip_time_us."""
        self._report_changes(request)
        self._controller.on_packets(request["packets"])
        target = self._controller.on_timeout(request["time_us"])
        target_bps = _to_number(target)
        if not math.isfinite(target_bps):
            raise UnusableClassError(
                f"{self._target_method} returned {target!r:.60}; it must return a number, bits per second"
            )
        return min(target_bps, self._highest_bps)

    def _report_changes(self, request: dict[str, Any]) -> None:
        objective = request["objective"]
        if objective != self._objective:
            self._objective = objective
            self._call_optional("on_objective", objective)
        round_trip_time_us = request.get("round_trip_time_us", self._round_trip_time_us)
        if round_trip_time_us != self._round_trip_time_us:
            self._round_trip_time_us = round_trip_time_us
            self._call_optional("on_round_trip_time", round_trip_time_us)

    def _call_optional(self, method: str, value: Any) -> None:
        if _has_methods(self._controller, method):
            getattr(self._controller, method)(value)


def _to_number(value: Any) -> float:
    """Returns the value as a float, NaN if it is not a number."""
    # float() would accept strings and booleans, including NumPy's.
    if isinstance(value, str | bytes | bytearray) or type(value).__name__ in ("bool", "bool_"):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _has_methods(owner: Any, *names: str) -> bool:
    return all(callable(getattr(owner, name, None)) for name in names)


# --- OpenNetLab


class _OpenNetLabAdapter:
    """Weir's methods for an estimator with OpenNetLab's; `interval_us` and `video_payload_type` are optional there."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator
        self.interval_us = getattr(estimator, "interval_us", _OPENNETLAB_INTERVAL_US)
        self._payload_types = OPENNETLAB_PAYLOAD_TYPES | {"video": _video_payload_type(estimator)}
        self._send_clock = _SendClock()

    def on_packets(self, packets: list[dict[str, Any]]) -> None:
        """Reports each packet in OpenNetLab's format and payload types."""
        for packet in packets:
            self._estimator.report_states(
                {
                    "send_time_ms": self._send_clock.time_ms(packet.get("abs_send_time")),
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


class _SendClock:
    """Unwraps abs-send-time, 24 bits that wrap every 64 s. The first packet with the extension was sent at 0."""

    def __init__(self) -> None:
        self._last: int | None = None
        self._elapsed_ticks = 0

    def time_ms(self, abs_send_time: int | None) -> float:
        """Send time of a packet; that of the packet before if it lacks the extension."""
        if abs_send_time is not None:
            if self._last is not None:
                half = _ABS_SEND_TIME_PERIOD // 2
                self._elapsed_ticks += (abs_send_time - self._last + half) % _ABS_SEND_TIME_PERIOD - half
            self._last = abs_send_time
        return self._elapsed_ticks / _ABS_SEND_TIME_TICKS_PER_MS


def _video_payload_type(estimator: Any) -> int:
    """The payload type that the estimator states, else that by which its source filters, else that of the gym."""
    if not hasattr(estimator, "video_payload_type"):
        filtered = _filtered_payload_type(type(estimator))
        return OPENNETLAB_PAYLOAD_TYPES["video"] if filtered is None else filtered
    stated = estimator.video_payload_type
    if stated not in _PAYLOAD_TYPES:
        name = type(estimator).__name__
        raise UnusableClassError(f"{name}.video_payload_type is {stated!r:.60}; it must be a whole number, 0 to 127")
    return int(stated)


def _filtered_payload_type(estimator_class: type) -> int | None:
    """Returns the payload type by which a class filters packets, as in `if stats["payload_type"] != 125: return`.

    Types of audio, probes and retransmissions do not count. Returns None if no other type remains, or several.
    """
    filtered = {
        side.value
        for base in estimator_class.__mro__[:-1]
        for comparison, body in _payload_type_comparisons(base)
        if _keeps_type(comparison, body)
        for side in (comparison.left, *comparison.comparators)
        if isinstance(side, ast.Constant) and type(side.value) is int
    }
    filtered -= {OPENNETLAB_PAYLOAD_TYPES["audio"], OPENNETLAB_PAYLOAD_TYPES["probe"]}
    return filtered.pop() if len(filtered) == 1 and filtered <= set(_PAYLOAD_TYPES) else None


def _payload_type_comparisons(source_class: type) -> Iterator[tuple[ast.Compare, list[ast.stmt]]]:
    """Yields the comparisons with payload_type in the source of a class, each with the body of its `if`, else []."""
    # Imported here, so that other controllers start faster.
    import inspect

    try:
        nodes = list(ast.walk(ast.parse(textwrap.dedent(inspect.getsource(source_class)))))
    except (OSError, TypeError, SyntaxError):
        # A class without source, for example of a compiled module.
        return
    bodies = {part: node.body for node in nodes if isinstance(node, ast.If) for part in ast.walk(node.test)}
    for node in nodes:
        if isinstance(node, ast.Compare) and "payload_type" in ast.unparse(node):
            yield node, bodies.get(node, [])


def _keeps_type(comparison: ast.Compare, body: list[ast.stmt]) -> bool:
    """True for a filter that keeps packets of the compared type: `!=` skips the others, `==` does more than skip."""
    skips = bool(body) and isinstance(body[-1], ast.Return | ast.Continue)
    only_skips = skips and len(body) == 1 and getattr(body[0], "value", None) is None
    operator = comparison.ops[0]
    return (isinstance(operator, ast.NotEq) and skips) or (isinstance(operator, ast.Eq) and not only_skips)


# --- The program: JSON lines


def main(path: Path, class_name: str) -> int:
    """Answers all requests and returns the exit status. An error is one line on standard error."""
    requests, answers = _take_standard_streams()
    try:
        _answer_all(_load_class(path, class_name), requests, answers)
    except BrokenPipeError:
        # The host has ended the run.
        return 0
    except Exception as error:
        print(_describe(error, path), file=sys.stderr)
        return 1
    return 0


def _take_standard_streams() -> tuple[IO[bytes], IO[str]]:
    """Redirects the controller's prints to standard error and gives it empty input, to protect the JSON lines."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    return requests, answers


def _load_class(path: Path, class_name: str) -> type:
    module = _load_module(path)
    user_class = getattr(module, class_name, None)
    if not isinstance(user_class, type):
        classes = [name for name, value in vars(module).items() if isinstance(value, type)]
        others = f"; it has {', '.join(classes[:10])}" if classes else ""
        raise UnusableClassError(f"{path.name} has no class {class_name}{others}")
    if not _has_methods(user_class, *_OPENNETLAB_METHODS):
        for method in _WEIR_METHODS:
            if not _has_methods(user_class, method):
                raise UnusableClassError(f"{path.name}: the class {class_name} has no method {method}")
    return user_class


def _load_module(path: Path) -> ModuleType:
    # The file may import its neighbors.
    sys.path.insert(0, str(path.parent))
    specification = importlib.util.spec_from_file_location(path.stem, path)
    if specification is None or specification.loader is None:
        raise UnusableClassError(f"{path.name}: not a Python file")
    module = importlib.util.module_from_spec(specification)
    # pickle and dataclasses look for the module here.
    sys.modules[path.stem] = module
    specification.loader.exec_module(module)
    return module


def _answer_all(user_class: type, requests: IO[bytes], answers: IO[str]) -> None:
    controller: CustomPythonClass | None = None
    for line in requests:
        request = json.loads(line)
        if request.pop("type") == "start":
            request.pop("version")
            _seed(request["seed"])
            controller = CustomPythonClass(user_class, request)
            answer = {"version": PROTOCOL_VERSION, "interval_us": controller.interval_us}
        else:
            assert controller is not None, "the first request is a start"
            answer = {"target_bps": controller.decide(request)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _seed(seed: int) -> None:
    """Makes a run draw the same random numbers, even in a process that has made other runs before."""
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % (1 << 32))


def _describe(error: Exception, path: Path) -> str:
    """The error in one line, with the innermost line of the user's file if the user's code raised it."""
    if isinstance(error, UnusableClassError):
        return str(error)
    if isinstance(error, SyntaxError):
        where, message = f"{Path(error.filename or path).name} line {error.lineno}", error.msg
    else:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == path]
        where = f"{path.name} line {frames[-1].lineno}, in {frames[-1].name}" if frames else path.name
        message = str(error)
    return f"{where}: {type(error).__name__}: {message}"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
