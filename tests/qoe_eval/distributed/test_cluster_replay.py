"""`weir replay --address` over two nodes. For `make test-distributed`."""

from processes import wait_until

REPLAY = ("replay", "catalogue", "--controller", "weir", "--controller", "rule", "--objectives", "2")


def lines(folder):
    """The records, in no order."""
    return sorted((folder / "results.jsonl").read_bytes().splitlines())


def test_the_records_are_those_of_one_machine_though_a_node_is_killed(two_nodes, tmp_path):
    local, remote = tmp_path / "here", tmp_path / "there"
    alone = two_nodes.run(*REPLAY, "--seeds", 4, "--jobs", 2, "--out", local)
    assert alone.returncode == 0, alone.stderr
    replay = two_nodes.popen(*REPLAY, "--seeds", 4, "--address", two_nodes.address, "--out", remote)
    results = remote / "results.jsonl"
    wait_until(lambda: results.exists() and results.read_bytes().count(b"\n") > 15, "the first chunks")
    two_nodes.kill(two_nodes.nodes[1])
    assert results.read_bytes().count(b"\n") < len(lines(local))
    _, err = replay.communicate(timeout=300)
    assert replay.returncode == 0, err
    assert lines(remote) == lines(local)
    assert lines(remote / "objectives") == lines(local / "objectives")
    for file in (local / "series").iterdir():
        assert (remote / "series" / file.name).read_bytes() == file.read_bytes()
