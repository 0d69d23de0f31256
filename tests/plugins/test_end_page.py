"""The pages of calls over a server: the time in the picture, which the receiver reads."""

import json
from pathlib import Path

import pytest

END = Path(__file__).resolve().parents[2] / "plugins/browser/end.js"
PAGE = """
<canvas width="960" height="540"></canvas><video muted autoplay playsinline></video><script>{script}</script><script>
const track = layeredNoise(document.querySelector('canvas'));
const video = document.querySelector('video');
video.srcObject = new MediaStream([track]);
reportDelays(video);
</script>"""


def delays_s(page, change=""):
    """The delays that the page reports in three seconds, after running `change` on it."""
    lines = []
    page.on("console", lambda message: lines.append(message.text))
    page.set_content(PAGE.format(script=END.read_text()))
    page.evaluate(change or "0")
    page.wait_for_timeout(3000)
    reports = [json.loads(line)["report"][0] for line in lines if line.startswith('{"type":"stats"')]
    assert all(report["type"] == report["id"] == "rendered-frame" for report in reports)
    return [report["endToEndDelay"] for report in reports]


@pytest.fixture
def page(chromium):
    """A page that is closed after the test."""
    opened = chromium.new_page()
    yield opened
    opened.close()


def test_each_rendered_frame_has_the_time_since_it_was_drawn(page):
    delays = delays_s(page)
    assert len(delays) >= 5
    assert all(0 <= delay < 2 for delay in delays)


def test_a_picture_without_the_time_has_no_delay(page):
    delays = delays_s(page, "drawTime = () => {}")
    assert len(delays) <= 2  # those before the change
