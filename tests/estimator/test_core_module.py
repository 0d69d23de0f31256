from __future__ import annotations

import ast
import os
import pydoc
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_type_hints, is_typeddict

import numpy as np
import pytest
from pydantic import TypeAdapter

import weir
from weir import _core, types

HERE = Path(__file__).parent
BUILT_IN = ("nada", "rule", "fixed")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    subprocess.run([sys.executable, HERE / "make_test_models.py", folder], check=True)
    return folder


def stream(
    estimator: weir.BandwidthEstimator,
    from_us: int,
    to_us: int,
    rate_bps: int,
    queueing_delay_us: int = 0,
    ecn: int = 0,
) -> list[weir.Estimate]:
    """Feeds an even stream of 1250-byte packets and returns the estimates that a REMB was due for."""
    estimates = []
    gap_us = 1250 * 8 * 1_000_000 // rate_bps
    for number, now_us in enumerate(range(from_us, to_us, gap_us)):
        estimator.on_packet(
            arrival_time_us=now_us,
            ssrc=7,
            sequence_number=(from_us // gap_us + number) & 0xFFFF,
            payload_bytes=1238,
            abs_send_time=((now_us + 10_000_000 - queueing_delay_us) * 262_144 // 1_000_000) & 0xFFFFFF,
            ecn=ecn,
        )
        while estimator.next_timeout_us <= now_us:
            estimator.on_timeout(now_us)
            if estimator.remb_due:
                estimates.append(estimator.latest)
    return estimates


def test_losses_that_no_rate_ends_are_left_out_of_feedback() -> None:
    """The sender follows the target up to 1.6 Mbps, so that a back-off proves that losses do not depend on the rate."""
    estimator = weir.BandwidthEstimator("rule")
    assert not estimator.omits_losses
    number, now_us = 0, 0
    for loses in (True, False):
        end_us = now_us + 30_000_000
        while now_us < end_us:
            number += 1
            now_us += 8_000_000_000 // min(max(estimator.latest.target_rate_bps, 100_000), 1_600_000)
            if not loses or number % 10:
                send_us = now_us + 10_000_000
                estimator.on_packet(
                    arrival_time_us=now_us, ssrc=7, sequence_number=number & 0xFFFF, payload_bytes=1000,
                    abs_send_time=(send_us * 262_144 // 1_000_000) & 0xFFFFFF,
                )  # fmt: skip
            while estimator.next_timeout_us <= now_us:
                estimator.on_timeout(now_us)
        assert estimator.omits_losses == loses


def stub() -> ast.Module:
    return ast.parse((Path(weir.__file__).parent / "_core.pyi").read_text())


def test_the_stub_names_what_the_module_has() -> None:
    names = {
        node.target.id if isinstance(node, ast.AnnAssign) else node.name
        for node in stub().body
        if isinstance(node, ast.AnnAssign | ast.ClassDef | ast.FunctionDef)
    }
    assert names == {name for name in vars(_core) if not name.startswith("_") or name == "__version__"}
    for node in stub().body:
        if isinstance(node, ast.ClassDef):
            members = {member.name for member in node.body if isinstance(member, ast.FunctionDef)} - {"__init__"}
            assert members == {name for name in vars(getattr(_core, node.name)) if not name.startswith("_")}


# As pybind11 writes them in its docstrings, and as the stub does.
SPELLINGS = {
    "typing.SupportsInt | typing.SupportsIndex": "int",
    "typing.SupportsFloat | typing.SupportsIndex": "float",
    "collections.abc.": "",
    "weir._core.": "",
    "(arg0:": "(self:",
    "= []": "= ()",
    "(path: object)": "(path: str | PathLike[str])",
    "controller: object": "controller: str | Model | Pool | Callable[[dict[str, Any]], Any]",
    "typing.Annotated[numpy.typing.ArrayLike, numpy.float32]": "ArrayLike",
    "target_bps: ArrayLike) -> object": "target_bps: ArrayLike) -> Any",
    "Mapping[str, object]": "Mapping[str, str | Model | Callable[[dict[str, Any]], Any]]",
}


def typed_dictionaries() -> dict[str, type]:
    return {name: it for name, it in vars(types).items() if is_typeddict(it)}


def signature(definition: str) -> str:
    """The signature "name(parameters) -> type" without the types of self and of dictionary values."""
    for compiled, written in SPELLINGS.items():
        definition = definition.replace(compiled, written)
    typed = "|".join(typed_dictionaries())
    definition = re.sub(rf"\b({typed})\b|dict\[[^]]*]", "dict", re.sub(r"\(self: \w+", "(self", definition))
    return ast.unparse(ast.parse(f"def {definition}: ..."))


def test_the_stub_has_the_signatures_of_the_module() -> None:
    classes = [node for node in stub().body if isinstance(node, ast.ClassDef)]
    for owner, body in [(_core, stub().body), *((getattr(_core, node.name), node.body) for node in classes)]:
        for node in body:
            if isinstance(node, ast.FunctionDef):
                assert node.returns is not None
                written = f"{node.name}({ast.unparse(node.args)}) -> {ast.unparse(node.returns)}"
                member = getattr(owner, node.name)
                is_property = [ast.unparse(decorator) for decorator in node.decorator_list] == ["property"]
                assert isinstance(member, property) == is_property, node.name
                compiled = f"{node.name}{member.fget.__doc__}" if isinstance(member, property) else member.__doc__
                assert signature(compiled.strip().split("\n")[0]) == signature(written)


def test_help_has_the_sentences_of_the_stub() -> None:
    classes = {node.name: node for node in stub().body if isinstance(node, ast.ClassDef)}
    owners: list[tuple[object, list[ast.stmt]]] = [(_core, stub().body)]
    owners += [(getattr(_core, name), node.body) for name, node in classes.items()]
    for owner, body in owners:
        for node in body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                assert (getattr(owner, node.name).__doc__ or "").endswith(text), node.name
    assert "Adds one RTP packet as received." in pydoc.render_doc(weir.BandwidthEstimator.on_packet)
    assert "The estimate in force." in pydoc.render_doc(weir.BandwidthEstimator)


def test_dictionaries_have_the_types_that_the_stub_names() -> None:
    views: list[Mapping[str, Any]] = []

    def choose(view: types.PoolView) -> str:
        views.append(view)
        return view["pilot"]

    estimator = weir.BandwidthEstimator(weir.Pool("pilot=rule copilots=nada policy=user", policy=choose))
    stream(estimator, 0, 1_000_000, 1_000_000)
    sender = weir.SendSideEstimator("rule")
    sender.set_desired_rate(total_bps=2_000_000, next_bps=600_000)
    cluster = None
    for number in range(20):
        now_us = 50_000 * (number + 1)
        sender.on_sent_packet(send_time_us=now_us, sequence_number=number, size_bytes=1000)
        sender.on_transport_feedback([(number, now_us + 20_000)], now_us + 40_000)
        cluster = cluster or sender.take_probe_cluster()
    made: dict[str, list[Mapping[str, Any]]] = {
        "ModelDescription": [weir.Model.shipped().description],
        "MemberState": views[-1]["members"],
        "Member": [*estimator.members],
        "PoolView": [*views],
        "PoolSpecification": [_core.parse_pool(POOL_LINE)],
        "Statistics": [estimator.statistics(1_000_000)],
        "ProbeCluster": [cluster or {}],
        "Remb": [weir.parse_remb(estimator.remb(1))],
    }
    assert set(made) == set(typed_dictionaries())
    for name, found in made.items():
        hints = get_type_hints(typed_dictionaries()[name])
        for one in found:
            assert list(one) == list(hints), name
            for key, hint in hints.items():
                # Those have a line of their own above.
                if hint != list[types.MemberState]:
                    TypeAdapter(hint).validate_python(one[key], strict=True)


def test_the_package_exports_names_of_the_library() -> None:
    assert set(weir.__all__) - {"shipped_model_path"} < set(vars(_core))
    assert tuple(weir.FEATURES)[:2] == ("interval_s", "receive_rate_bps")


def test_the_library_is_the_wheels() -> None:
    import onnxruntime

    assert onnxruntime.__version__ == weir.onnxruntime_version()


@pytest.mark.parametrize("controller", BUILT_IN)
def test_controllers_run_a_call(controller: str) -> None:
    estimator = weir.BandwidthEstimator(controller)
    estimates = stream(estimator, 0, 10_000_000, 1_000_000)
    assert 9 <= len(estimates) <= 60
    assert all(30_000 <= e.target_rate_bps <= 50_000_000 for e in estimates)
    assert [e.at_time_us for e in estimates] == sorted(e.at_time_us for e in estimates)
    last = estimates[-1]
    assert last.reason in ("controller", "guard_slew")
    bounds = {"rule": (1_000_000, 2_200_000), "nada": (300_000, 50_000_000), "fixed": (300_000, 300_000)}
    low, high = bounds.get(controller, (30_000, 50_000_000))
    assert low <= last.target_rate_bps <= high


def test_media_bound_the_rate() -> None:
    estimator = weir.BandwidthEstimator("rule", max_media_rate_bps=400_000)
    assert stream(estimator, 0, 5_000_000, 1_000_000)[-1].target_rate_bps == 400_000
    estimator.set_constraints(min_rate_bps=30_000, start_rate_bps=300_000, max_rate_bps=5_000_000, now_us=5_000_000)
    assert stream(estimator, 5_000_000, 8_000_000, 1_000_000)[-1].target_rate_bps > 900_000


def test_marks_lower_the_rate_unless_the_rule_is_off() -> None:
    marked, ignored = (weir.BandwidthEstimator("rule", guard_off=off) for off in ((), ("ecn",)))
    for estimator in (marked, ignored):
        stream(estimator, 0, 5_000_000, 1_000_000, ecn=3)
    assert marked.counters()["guard_ecn"] > 0
    assert ignored.counters()["guard_ecn"] == 0
    with pytest.raises(ValueError, match="no rule 'finite' that can be off"):
        weir.BandwidthEstimator("rule", guard_off=["finite"])
    with pytest.raises(ValueError, match=r"ecn must be within \[0, 3\], not 4"):
        stream(marked, 5_000_000, 6_000_000, 1_000_000, ecn=4)


def test_an_estimate_before_the_first_timeout_has_no_time() -> None:
    estimator = weir.BandwidthEstimator("rule")
    assert estimator.latest.at_time_us is None
    assert repr(estimator.latest) == "Estimate(at_time_us=None, target_rate_bps=300000, reason='start')"
    estimator.on_timeout(7)
    assert estimator.latest.at_time_us == 7


def test_a_model_runs_a_call(models: Path) -> None:
    estimator = weir.BandwidthEstimator(weir.Model.load(models / "rate_bps.onnx"), objective="throughput")
    estimates = stream(estimator, 0, 5_000_000, 1_000_000)
    assert estimates[-1].reason == "controller"
    assert estimates[-1].target_rate_bps == pytest.approx(1_000_800, rel=0.02)
    estimator.set_objective((1, 8, 1))
    assert stream(estimator, 5_000_000, 8_000_000, 1_000_000)[-1].target_rate_bps == pytest.approx(1_000_100, rel=0.02)
    counters = estimator.counters()
    assert 75 <= counters["decisions"] <= 81
    assert counters["faults"] == 0


def test_a_model_of_other_operators_runs_in_onnx_runtime(models: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    data = (models / "foreign_operator.onnx").read_bytes()
    policy = weir.Policy(data)
    assert policy.needs_onnxruntime
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    actions = []
    for rate_bps in (0.0, 3e5, 1e6, 8e6):
        observation = [rate_bps, rate_bps, 0.1, 0.0, 0.02, 0.05]
        (expected,) = session.run(["action"], {"observation": [observation]})
        actions.append(policy.run(observation))
        assert actions[-1] == pytest.approx(expected[0].tolist(), rel=1e-6)
    assert len(set(map(tuple, actions))) > 2


def test_a_failing_model_is_replaced_by_the_rule(models: Path) -> None:
    estimator = weir.BandwidthEstimator(weir.Model.load(models / "nan_between_1_and_2_mbps.onnx"))
    assert stream(estimator, 0, 5_000_000, 1_500_000)[-1].reason == "fallback"
    assert estimator.suspended
    assert estimator.counters()["faults"] > 40


def test_a_file_that_never_ends_is_no_model():
    with pytest.raises(ValueError, match="at most 16777216"):
        weir.Model.load("/dev/zero")


def test_constraints_and_round_trip_time() -> None:
    estimator = weir.BandwidthEstimator("fixed", start_rate_bps=500_000)
    stream(estimator, 0, 1_000_000, 500_000)
    assert estimator.latest.target_rate_bps == 500_000
    estimator.on_round_trip_time(80_000, 1_000_000)
    estimator.set_constraints(min_rate_bps=10_000, start_rate_bps=10_000, max_rate_bps=200_000, now_us=1_000_000)
    stream(estimator, 1_000_000, 2_000_000, 500_000)
    assert estimator.latest.target_rate_bps == 200_000


def test_remb_round_trip() -> None:
    packet = weir.write_remb(1, 1_234_567, [5, 0xFFFFFFFF])
    assert weir.parse_remb(packet) == {"sender_ssrc": 1, "rate_bps": 1_234_567 // 8 * 8, "ssrcs": [5, 0xFFFFFFFF]}
    estimator = weir.BandwidthEstimator("rule")
    stream(estimator, 0, 1_000_000, 500_000)
    assert weir.parse_remb(estimator.remb(9))["ssrcs"] == [7]


def test_remote_estimate_is_what_libwebrtc_reads() -> None:
    beginning = bytes.fromhex("8dcc0003 00000000 676f6f67 01")
    assert weir.write_remote_estimate() == beginning + (1_000_000).to_bytes(3, "big")
    assert weir.write_remote_estimate(0) == beginning + bytes(3)
    assert weir.write_remote_estimate(2**62) == beginning + b"\xff\xff\xff"


def test_a_model_describes_itself(models: Path) -> None:
    description = weir.Model.load(models / "relative.onnx").description
    assert description == {
        "format": "weir/1",
        "name": "test-relative",
        "version": "7",
        "provenance": "tests/estimator/make_test_models.py",
        "features": ["receive_rate_bps", "loss_ratio", "queueing_delay_mean_s"],
        "history": 2,
        "interval_ms": 100.0,
        "action_kind": "relative",
        "action_alpha": 0.025,
        "action_multipliers": [],
        "min_bps": 30_000,
        "max_bps": 50_000_000,
        "observation_size": 6,
        "action_size": 1,
        "state_size": 0,
        "takes_objective": False,
    }


def test_mmsys_baseline_is_described() -> None:
    shared = os.environ.get("WEIR_SHARED")
    if shared is None:
        pytest.skip("WEIR_SHARED is not set: no models/mmsys24_baseline.onnx")
    description = weir.Model.load(Path(shared) / "models" / "mmsys24_baseline.onnx").description
    assert (description["format"], description["observation_size"], description["interval_ms"]) == (
        "mmsys2024",
        150,
        60.0,
    )


def test_a_policy_follows_its_objective(models: Path) -> None:
    policy = weir.Policy((models / "rate_bps.onnx").read_bytes())
    rates = [policy.run([0.0] * 6, objective)[0] for objective in ("throughput", (1, 8, 1))]
    assert rates == pytest.approx([800, 100])


def test_recurrent_policy_remembers_until_reset(models: Path) -> None:
    policy = weir.Policy((models / "recurrent.onnx").read_bytes())
    assert [policy.run([0.0] * 6)[0] for _ in range(3)] == [1e6, 2e6, 3e6]
    policy.reset_state()
    assert policy.run([0.0] * 6) == [1e6]


@pytest.mark.parametrize(
    ("kind", "action", "expected"),
    [
        ("rate_bps", [1_500_000.0], 1_500_000),
        ("rate_bps", [1.0], 30_000),
        ("log_rate", [-1.0], 30_000),
        ("log_rate", [1.0], 50_000_000),
        ("relative", [2.0], 1_050_000),
        ("relative", [-2.0], 952_380),
        ("discrete", [0.1, 0.7, 0.2], 500_000),
        ("discrete", [2.0], 2_000_000),
    ],
)
def test_apply_action(kind: str, action: list[float], expected: int) -> None:
    multipliers = (1.0, 0.5, 2.0) if kind == "discrete" else ()
    assert _core.apply_action(action, 1_000_000, kind=kind, multipliers=multipliers) == pytest.approx(expected, abs=1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: weir.BandwidthEstimator(7), "a controller is a name, a weir.Model, a weir.Pool, or the class of"),
        (lambda: weir.BandwidthEstimator("gcc"), "no controller 'gcc'; there are nada, rule"),
        (lambda: weir.Model(b"hello"), "not an ONNX model, or is truncated"),
        (
            lambda: weir.BandwidthEstimator("rule", min_rate_bps=2, max_rate_bps=1),
            "at most max_rate_bps; they are 2, 300000 and 1",
        ),
        (lambda: weir.BandwidthEstimator("rule", objective="speed"), "no objective 'speed'"),
        (lambda: weir.BandwidthEstimator("rule", objective=(1, 0, 0)), "three finite weights above 0"),
        (lambda: weir.BandwidthEstimator("rule", objective=(float("nan"), 1, 1)), "three finite weights above 0"),
        (lambda: weir.BandwidthEstimator("rule").on_timeout(2**63 - 1), "now_us is not a time"),
        (lambda: _core.apply_action([1.0], 1, kind="psychic"), "no kind of action 'psychic'"),
        (lambda: _core.apply_action([float("nan")], 1, kind="rate_bps"), "not finite"),
        (lambda: _core.apply_action([1.0], 1, kind="discrete"), "needs multipliers"),
        (lambda: _core.apply_action([1.0], 1, kind="discrete", multipliers=(float("inf"),)), "above 0 and finite"),
        (lambda: _core.apply_action([0.0], 1, kind="relative", alpha=float("inf")), "alpha must be above 0 and finite"),
        (lambda: _core.apply_action([0.0], 1, kind="relative", alpha=float("nan")), "alpha must be above 0 and finite"),
        (lambda: _core.apply_action([1.0], 0, kind="relative"), "current_rate_bps must be above 0"),
        (lambda: weir.write_remb(1, 0, []), "a rate above 0"),
        (lambda: weir.write_remb(1, 1, [2**32]), r"ssrc must be within \[0, 4294967295\]"),
        (lambda: weir.write_remote_estimate(-1), "link_capacity_lower_bps is below 0"),
        (lambda: weir.parse_remb(b"RTCP"), "not a well-formed REMB"),
    ],
)
def test_bad_input_is_one_clear_value_error(call, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [("sequence_number", 65_536), ("ssrc", -1), ("payload_bytes", -1), ("abs_send_time", -1), ("payload_type", 256)],
)
def test_packet_fields_out_of_range_are_named(field: str, value: int) -> None:
    packet = {"arrival_time_us": 0, "ssrc": 1, "sequence_number": 1, "payload_bytes": 100} | {field: value}
    with pytest.raises(ValueError, match=rf"{field} must be within .* not {value}"):
        weir.BandwidthEstimator("rule").on_packet(**packet)


def test_policy_refuses_wrong_observations(models: Path) -> None:
    policy = weir.Policy((models / "rate_bps.onnx").read_bytes())
    with pytest.raises(ValueError, match="has 2 elements, the model takes 6"):
        policy.run([0.0, 0.0])
    with pytest.raises(ValueError, match="not finite"):
        policy.run([float("inf")] * 6)


def test_one_model_serves_many_estimators(models: Path) -> None:
    model = weir.Model.load(models / "rate_bps.onnx")
    assert model.description == weir.Model((models / "rate_bps.onnx").read_bytes()).description
    assert not model.needs_onnxruntime
    alone = weir.BandwidthEstimator(weir.Model.load(models / "rate_bps.onnx"))
    shared = [
        weir.BandwidthEstimator(model),
        weir.BandwidthEstimator(model),
        weir.BandwidthEstimator(weir.Pool("pilot=weir:one copilots=rule", members={"weir:one": model})),
    ]
    policy = weir.Policy(model)
    del model
    expected = [one.target_rate_bps for one in stream(alone, 0, 2_000_000, 1_000_000)]
    assert len(expected) > 3
    for estimator in shared:
        assert [one.target_rate_bps for one in stream(estimator, 0, 2_000_000, 1_000_000)] == expected
    assert policy.run([0.0] * policy.description["observation_size"])
    shared[0].set_controller(weir.Model.load(str(models / "recurrent.onnx")))


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        weir.Model.load(tmp_path / "none.onnx")
    (tmp_path / "text.onnx").write_text("no model")
    with pytest.raises(ValueError, match="model"):
        weir.Model.load(tmp_path / "text.onnx")
    with pytest.raises(TypeError):
        weir.Policy(None)  # type: ignore[arg-type]


def test_statistics_and_streams_that_end() -> None:
    estimator = weir.BandwidthEstimator("rule")
    assert estimator.statistics(0)["reason"] == "start"
    stream(estimator, 0, 2_000_000, 1_000_000)
    before = estimator.statistics(2_000_000)
    assert before["target_rate_bps"] == estimator.latest.target_rate_bps
    assert before["receive_rate_bps"] == pytest.approx(1e6, rel=0.05)
    assert before["packets_lost"] == 0
    ssrcs = weir.parse_remb(estimator.remb(1))["ssrcs"]
    assert len(ssrcs) == 1
    estimator.remove_stream(ssrcs[0])
    assert weir.parse_remb(estimator.remb(1))["ssrcs"] == []


def test_another_model_takes_the_place_in_the_call() -> None:
    model = weir.Model.shipped()
    estimator = weir.BandwidthEstimator(model)
    stream(estimator, 0, 2_000_000, 1_000_000)
    before_bps = estimator.latest.target_rate_bps
    with pytest.raises(ValueError, match="there is no controller 'gcc'"):
        estimator.set_controller("gcc")
    estimator.set_controller(model)
    assert estimator.latest.target_rate_bps == before_bps
    stream(estimator, 2_000_000, 4_000_000, 1_000_000)
    assert estimator.counters()["faults"] == 0
    assert estimator.members[0]["decisions"] == pytest.approx(20, abs=1)
    assert estimator.counters()["decisions"] == pytest.approx(40, abs=1)


# --- pools ----------------------------------------------------------------------------------------------------------

POOL_LINE = "pilot=weir copilots=nada,rule fusion=min policy=by_trust"


def test_the_rules_rate_of_one_interval_and_of_many() -> None:
    assert weir.rule_rate_bps(1e6, 0.005, 10, 1e6) == pytest.approx(1.1e6)
    rates = weir.rule_rate_bps(np.full(4, 1e6), [0.005, 0.1075, 2.0, 0.0], [10, 10, 10, 0], 1e6)
    assert rates.dtype == np.float32
    np.testing.assert_allclose(rates, [1.1e6, 2e6 / 3, 0.3e6, 0.6e6], rtol=1e-5)


def test_a_line_is_read_as_in_cpp() -> None:
    assert _core.parse_pool("policy=by_trust pilot=weir  fusion=min copilots=nada,rule") == {
        "line": POOL_LINE,
        "pilot": "weir",
        "copilots": ["nada", "rule"],
        "fusion": "min",
        "policy": "by_trust",
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "character 1: pilot=MEMBER is missing"),
        ("pilot=rule fusion=sum", 'character 19: "sum" is not known; use pilot, max,'),
        ("pilot=rule copilots=gcc", "pool member gcc: there is no controller 'gcc'"),
        ("pilot=rule copilots=weir:b", "pool member weir:b: there is no controller 'weir:b'"),
        ("pilot=rule fusion=user", "fusion=user needs a function"),
        ("pilot=rule policy=user", "policy=user needs a function"),
    ],
)
def test_what_cannot_be_is_one_clear_error(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        weir.BandwidthEstimator(weir.Pool(line))


def test_a_pool_runs_a_call_and_says_who_sits_where(models: Path) -> None:
    model = weir.Model.load(models / "rate_bps.onnx")
    members = {"weir": model, "weir:second": model}
    estimator = weir.BandwidthEstimator(
        weir.Pool("pilot=weir copilots=weir:second,nada fusion=median", members=members)
    )
    assert len(stream(estimator, 0, 3_000_000, 2_000_000)) >= 4
    members = {one["name"]: one for one in estimator.members}
    assert list(members) == ["weir", "weir:second", "nada"]
    assert [one["role"] for one in members.values()] == ["pilot", "copilot", "copilot"]
    assert all(one["rate_bps"] > 0 and one["trust"] == 1 and one["faults"] == 0 for one in members.values())
    estimator.configure_pool("pilot=nada copilots=weir fusion=max policy=by_objective")
    assert [one["role"] for one in estimator.members] == ["copilot", "watching", "pilot"]
    with pytest.raises(ValueError, match='"rule" is no member of this pool'):
        estimator.configure_pool("pilot=rule")


def test_one_controller_decides_as_a_pool_of_it() -> None:
    estimator = weir.BandwidthEstimator("nada")
    assert [(one["name"], one["role"]) for one in estimator.members] == [("nada", "pilot")]
    with pytest.raises(ValueError, match=r"the controller is no weir\.Pool"):
        estimator.configure_pool("pilot=nada")
    alone = weir.BandwidthEstimator(weir.Pool("pilot=nada"))
    ends = [[e.target_rate_bps for e in stream(each, 0, 5_000_000, 1_000_000)] for each in (estimator, alone)]
    assert ends[0] == ends[1]


def test_a_users_fusion() -> None:
    seen = []

    def lowest(pilot_bps: int, copilots_bps: list[int]) -> int:
        seen.append((pilot_bps, *copilots_bps))
        return min(pilot_bps, *copilots_bps)

    line = "pilot=nada copilots=rule fusion="
    own = weir.BandwidthEstimator(weir.Pool(line + "user", fusion=lowest))
    built_in = weir.BandwidthEstimator(weir.Pool(line + "min"))
    rates = [[e.target_rate_bps for e in stream(each, 0, 5_000_000, 1_000_000)] for each in (own, built_in)]
    assert rates[0] == rates[1]
    assert all(len(each) == 2 for each in seen)
    assert own.counters()["fusion_faults"] == 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("answer", [0, -5, 10**15, 2**63 - 1, "much", None, 1 / 3, ZeroDivisionError])
def test_a_fusion_that_fails_is_the_pilots_and_counts(answer) -> None:
    def fuse(pilot_bps: int, copilots_bps: list[int]) -> int:
        if answer is ZeroDivisionError:
            raise ZeroDivisionError
        return answer

    own = weir.BandwidthEstimator(weir.Pool("pilot=nada copilots=rule fusion=user", fusion=fuse))
    alone = weir.BandwidthEstimator("nada")
    rates = [[e.target_rate_bps for e in stream(each, 0, 2_000_000, 1_000_000)] for each in (own, alone)]
    assert rates[0] == rates[1]
    assert own.counters()["fusion_faults"] >= 15


def test_a_users_policy_gives_the_seat_away() -> None:
    asked = []

    def policy(view: dict) -> str:
        asked.append(view)
        return "rule" if view["now_us"] > 2_000_000 else "nada"

    estimator = weir.BandwidthEstimator(weir.Pool("pilot=nada copilots=rule policy=user", policy=policy))
    stream(estimator, 0, 4_000_000, 1_000_000)
    assert [(one["name"], one["role"]) for one in estimator.members] == [("nada", "watching"), ("rule", "pilot")]
    assert estimator.counters()["active_changes"] == 1
    assert set(asked[0]) == {"now_us", "target_rate_bps", "objective", "statistics", "members", "pilot"}
    assert set(asked[0]["statistics"]) == set(weir.FEATURES)
    assert asked[-1]["pilot"] == "rule"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("answer", ["nobody", "", 7, None, RuntimeError])
def test_a_policy_that_names_nobody_changes_nothing(answer) -> None:
    def policy(_: dict) -> str:
        if answer is RuntimeError:
            raise RuntimeError
        return answer

    estimator = weir.BandwidthEstimator(weir.Pool("pilot=nada copilots=rule policy=user", policy=policy))
    stream(estimator, 0, 2_000_000, 1_000_000)
    assert [one["role"] for one in estimator.members] == ["pilot", "watching"]
