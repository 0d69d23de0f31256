"""`weir replay --address` over two nodes. For `make test-distributed`."""

from processes import wait_until

REPLAY = ("replay", "catalogue", "--controller", "weir", "--controller", "rule", "--objectives", "2")


def lines(folder):
    """The records, in no order."""
    return sorted((folder / "results.jsonl").read_bytes().splitlines())


def test_the_records_are_those_of_one_machine_though_a_node_is_killed(two_nodes, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    alone = two_nodes.run(*REPLAY, "--seeds", 4, "--jobs", 2, "--out", here)
    assert alone.returncode == 0, alone.stderr
    replay = two_nodes.popen(*REPLAY, "--seeds", 4, "--address", two_nodes.address, "--out", there)
    results = there / "results.jsonl"
    wait_until(lambda: results.exists() and results.read_bytes().count(b"\n") > 15, "the first chunks")
    two_nodes.kill(two_nodes.nodes[1])
    assert results.read_bytes().count(b"\n") < len(lines(here))
    _, said = replay.communicate(timeout=300)
    assert replay.returncode == 0, said
    assert lines(there) == lines(here)
    assert lines(there / "objectives") == lines(here / "objectives")
    for file in (here / "series").iterdir():
        assert (there / "series" / file.name).read_bytes() == file.read_bytes()
