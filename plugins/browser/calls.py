"""Calls from an unmodified Chromium, over an emulated link, to the receiver of a plug-in, by `weir call`."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from weir_calls.call.logs import LINK_LOG
from weir_calls.link.log import LinkLog, read_link_log
from weir_eval.records.call_record import CallRecord
from weir_eval.runs.store import RecordStore
from weir_traces.schema.scenario import Scenario


@dataclass(frozen=True)
class Call:
    """A call that was made: its `weir.result/1` record, and the link's log of the way that media takes, from the
    beginning of the scenario to its end.
    """

    record: CallRecord
    link: LinkLog

    def between(self, start_s: float, end_s: float) -> LinkLog:
        """The log of a part of the scenario, s since its beginning."""
        zero_us = self.link.scenario_start_us or 0.0
        return self.link.between(zero_us + 1e6 * start_s, zero_us + 1e6 * end_s)


def parser(description: str | None) -> argparse.ArgumentParser:
    """The command line that the programs have in common: `peer` and `out`, both paths."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("peer", type=Path, metavar="PEER", help="the receiving program")
    made.add_argument("--out", type=Path, required=True, metavar="DIR", help="takes the calls")
    return made


def make_calls(scenario: Scenario, peer: Path, out: Path, *options: str) -> Iterator[Call]:
    """Makes the calls of a scenario that are not there yet, each as long as the scenario.

    Args:
        scenario: what the link replays.
        peer: the receiving program, in weir-peer's place.
        out: takes a folder for the scenario.
        options: of `weir call`.

    Raises:
        InputError: the folder cannot be read.
        subprocess.CalledProcessError: `weir call` failed, with its exit status; it has said why.
    """
    folder = out / scenario.name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{scenario.name}.json"
    scenario.save(path)
    command = [str(Path(sys.executable).parent / "weir"), "call", str(path), "--size", "640x360", *options]
    command += ["--duration", f"{scenario.duration_s:g}", "--out", str(folder)]
    subprocess.run(command, env=os.environ | {"WEIR_PEER": str(peer)}, stdout=subprocess.DEVNULL, check=True)
    for record in RecordStore(folder, CallRecord).read():
        for why in record.call.disturbed:
            print(f"disturbed: {scenario.name}, {record.controller}: {why}")
        log = read_link_log(folder / "calls" / record.call.folder / LINK_LOG, "forward")
        yield Call(record, log.between(record.call.started_us or 0, record.call.ended_us or 0))
