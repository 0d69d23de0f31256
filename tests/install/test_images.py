"""docker/Dockerfile: the images of `make test-docker`, which builds and runs them."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def instructions(name):
    """The words of each instruction of that name, with continued lines joined."""
    text = (ROOT / "docker/Dockerfile").read_text().replace("\\\n", " ")
    return [line.split()[1:] for line in text.splitlines() if line.startswith(f"{name} ")]


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_each_image_is_a_stage_that_follows_from_another():
    stages = {"debian:bookworm-slim"}
    for base, _, stage in instructions("FROM"):
        assert base in stages
        stages.add(stage)
    copied_from = {words[0].removeprefix("--from=") for words in instructions("COPY") if words[0].startswith("--from=")}
    assert copied_from <= stages
    (command,) = (line for line in run("make", "--dry-run", "test-docker").stdout.splitlines() if "images.sh" in line)
    tested = command.split()[1:]
    assert set(tested) == {stage for stage in stages if re.fullmatch("weir(-[a-z]+)?", stage)}


def test_what_an_image_copies_and_makes_is_in_the_clone():
    for *sources, _ in instructions("COPY"):
        if not sources[0].startswith("--from="):
            assert all((ROOT / source).exists() for source in sources), sources
    steps = [step.strip() for words in instructions("RUN") for step in " ".join(words).split("&&")]
    made = [re.sub(r"\$\w+", "", step).split() for step in steps if re.match(r"(\w+=\w+ )*make ", step)]
    assert len(made) == 4
    for words in made:
        done = run("make", "--dry-run", *words[words.index("make") + 1 :])
        assert done.returncode == 0, done.stderr
    for step in steps:
        for path in re.findall(r"(?<=-r )\S+|(?<= )\./\S+|^docker/\S+ docker/\S+", step):
            assert all((ROOT / one).exists() for one in path.split()), step
