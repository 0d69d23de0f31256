"""Scenario files, format ``weir.scenario/1``: a path, the flows on it, and a duration.

Every number is a JSON number (never a string or a boolean) and finite; unknown keys are refused. A file may omit
keys with defaults; ``schema``, ``name``, ``duration_s``, ``forward.capacity`` and ``flows`` have none. Random
seeds are not part of a scenario: scenario, controller, objective and seed together determine a run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from weir_cli.errors import InputError
from weir_cli.files.input import parse_json, printable, read_text
from weir_cli.files.output import format_json, write_text
from weir_traces.bounds import MAX_DURATION_S, MAX_FLOWS
from weir_traces.schema import Name, Part, PositiveTime, few_keys
from weir_traces.schema.errors import describe
from weir_traces.schema.flows import AnyFlow, CbrFlow, FillerMedia, RtpFlow, TcpFlow, Transfers, VideoMedia
from weir_traces.schema.links import (
    BernoulliLoss,
    Capacity,
    GilbertElliottLoss,
    Link,
    NoJitter,
    NoLoss,
    Queue,
    TruncatedGaussianJitter,
)
from weir_traces.schema.values_over_time import DelayOverTime

SCHEMA = "weir.scenario/1"

__all__ = [
    "SCHEMA", "BernoulliLoss", "Capacity", "CbrFlow", "FillerMedia", "GilbertElliottLoss", "Link", "NoJitter", "NoLoss",
    "Queue", "RtpFlow", "Scenario", "TcpFlow", "Transfers", "TruncatedGaussianJitter", "VideoMedia",
]  # fmt: skip


class WholeDocument(dict[str, Any]):
    """A scenario as JSON values with every default filled in; the result of `Scenario.to_dict`."""


class Scenario(Part):
    """A bottleneck (``forward``), its reverse link, flows and a duration in seconds.

    A file without ``reverse`` has an unlimited reverse link with the forward link's delay and no loss.
    """

    schema_: Literal["weir.scenario/1"] = Field(alias="schema")
    name: Name
    description: str = ""
    provenance: Annotated[dict[str, str], BeforeValidator(few_keys)] = Field(default_factory=dict)
    duration_s: Annotated[PositiveTime, Field(le=MAX_DURATION_S)]
    forward: Link
    reverse: Link
    flows: list[AnyFlow] = Field(min_length=1, max_length=MAX_FLOWS)

    @model_validator(mode="before")
    @classmethod
    def _complete_reverse(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        forward = data.get("forward")
        reverse = data.get("reverse", {})
        if isinstance(forward, Link):
            delay: Any = forward.one_way_delay_ms
        else:
            delay = forward.get("one_way_delay_ms", 25.0) if isinstance(forward, dict) else 25.0
            # Report a delay of the wrong type only once, at the forward link.
            delay = (
                delay if isinstance(delay, int | float | dict | DelayOverTime) and not isinstance(delay, bool) else 25.0
            )
        if isinstance(reverse, dict):
            reverse = {"capacity": None, "one_way_delay_ms": delay} | reverse
        return data | {"reverse": reverse}

    @model_validator(mode="after")
    def _unique_flows(self) -> Scenario:
        seen: set[str] = set()
        for index, flow in enumerate(self.flows):
            if flow.id in seen:
                raise ValueError(f'flows[{index}].id: "{flow.id}" is taken; give every flow an id of its own')
            seen.add(flow.id)
        return self

    @model_validator(mode="after")
    def _transfers_are_limited(self) -> Scenario:
        for index, flow in enumerate(self.flows):
            link = getattr(self, flow.direction)
            if (
                isinstance(flow, TcpFlow)
                and not flow.transfers
                and link.capacity is None
                and isinstance(link.loss, NoLoss)
            ):
                raise ValueError(
                    f"flows[{index}]: an endless TCP transfer grows for ever where {flow.direction}.capacity is null; "
                    "give the link a rate, or the flow transfers"
                )
        return self

    @classmethod
    def make(cls, **fields: Any) -> Scenario:
        """A scenario from its fields, without ``schema``.

        Raises:
            InputError: a field is invalid; the message names it.
        """
        return cls.from_dict({"schema": SCHEMA} | fields, str(fields.get("name", "scenario")))

    @classmethod
    def from_dict(cls, data: Any, source: str = "scenario") -> Scenario:
        """A scenario from parsed JSON; ``source`` names it in messages.

        Raises:
            InputError: it is invalid; the message has the source, JSON path, fault and remedy.
        """
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise InputError(f"{source}: {describe(error, data)}") from None

    @classmethod
    def from_json(cls, text: str, source: str = "scenario") -> Scenario:
        """A scenario from JSON text.

        Raises:
            InputError: the text is not JSON (the message has line and column), or not a scenario.
        """
        return cls.from_dict(parse_json(text, source), source)

    @classmethod
    def load(cls, path: str | Path) -> Scenario:
        """Reads a scenario file.

        Raises:
            InputError: it cannot be read, or is not a valid scenario.
        """
        return cls.from_json(read_text(path), printable(path))

    def to_dict(self) -> dict[str, Any]:
        """The scenario as JSON values, with every default filled in, as the simulator requires."""
        data = self.model_dump(mode="json", by_alias=True)
        data["flows"] = [{"kind": flow["kind"]} | flow for flow in data["flows"]]
        return WholeDocument(data)

    def to_json(self) -> str:
        """Text of a scenario file, ending in a line break."""
        return format_json(self.to_dict()) + "\n"

    def save(self, path: str | Path) -> None:
        """Writes a scenario file.

        Raises:
            InputError: the file cannot be written.
        """
        write_text(path, self.to_json())
