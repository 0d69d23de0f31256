"""Makes the pictures of the page for the documents, of a real call or, with --fake, of a simulated one.

python tests/calls/serve/make_screenshot.py [--fake] [--seconds S] [--out FILE]
python tests/calls/serve/make_screenshot.py --moving --out docs/serve.webp

The weights are dragged from `balanced` towards throughput on the way; in the moving picture from corner to corner. A
real call needs what `weir call` needs.
"""

import argparse
import io
import math
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

from PIL import Image
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))
from serve.conftest import FakeCalls, RunningServer
from serve.fake_call import STEP_S

from weir_calls.requirements import CHROMIUM
from weir_calls.serve import server
from weir_calls.serve.call_runner import real_calls

SIZE = {"width": 1200, "height": 1000}
FAKE_SPEED = 8.0
# The moving picture: a frame each 0.4 s of the call, shown four times as fast.
FRAMES = 100
FRAME_S = 0.4
SHOWN_MS = 100
MOVING_SIZE = {"width": 1200, "height": 920}
# The part of the page that is shown.
MOVING_CLIP = {"x": 0, "y": 0, "width": 1200, "height": 905}
MOVING_WIDTH = 900


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fake", action="store_true")
    parser.add_argument("--seconds", type=float, default=57.0, help="into the call, when the picture is taken")
    parser.add_argument("--moving", action="store_true", help="an animated WebP in place of a PNG")
    parser.add_argument("--out", type=Path, default=Path(server.__file__).parent / "serve.png")
    options = parser.parse_args()
    calls = (
        FakeCalls(hold_s=math.inf, step_s=STEP_S / FAKE_SPEED) if options.fake else SimpleNamespace(backend=real_calls)
    )
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        running = RunningServer(Path(folder) / "calls", calls, None)
        try:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            size = MOVING_SIZE if options.moving else SIZE
            page = browser.new_page(viewport=size)
            page.goto(running.url)
            start(page, options)
            images = take_moving(page) if options.moving else [take(page, options)]
            browser.close()
        finally:
            running.close()
    pictures = [Image.open(io.BytesIO(image)).convert("RGB") for image in images]
    if options.moving:
        height = MOVING_WIDTH * MOVING_CLIP["height"] // MOVING_CLIP["width"]
        frames = [picture.resize((MOVING_WIDTH, height), Image.Resampling.LANCZOS) for picture in pictures]
        frames[0].save(
            options.out, save_all=True, append_images=frames[1:], duration=SHOWN_MS, loop=0, quality=55, method=6
        )
    else:
        pictures[0].quantize(128, method=Image.Quantize.MEDIANCUT, dither=0).save(options.out, optimize=True)
    print(options.out, f"{options.out.stat().st_size / 1000:.0f} kB")


def start(page, options) -> None:
    page.wait_for_selector("#status[data-state=ready]")
    page.locator("input[value='cellular-3m']").locator("..").click()
    page.locator("input[value='chromium']").locator("..").click()
    page.locator("#beside").get_by_text("none").click()
    page.locator("#size").select_option("640x360")
    page.locator("#duration").fill(f"{options.seconds + 20:.0f}")
    page.locator("#start").click()


def take(page, options) -> bytes:
    wait_until(page, 0.45 * options.seconds)
    box = page.locator("#triangle").bounding_box()

    def place(step):
        return box["x"] + box["width"] * (0.36 + 0.006 * step), box["y"] + box["height"] * (0.6 - 0.014 * step)

    page.mouse.move(*place(0))
    page.mouse.down()
    for step in range(24):
        page.mouse.move(*place(step))
        page.wait_for_timeout(40)
    page.mouse.up()
    wait_until(page, options.seconds)
    return page.screenshot()


def take_moving(page) -> list[bytes]:
    """Frames while the handle goes from the middle to the corner of latency, to that of throughput, and back."""
    wait_until(page, 8.0)
    box = page.locator("#triangle").bounding_box()
    middle, latency, throughput = (0.42, 0.5), (0.2, 0.82), (0.5, 0.22)
    corners = [(0.0, middle), (0.12, middle), (0.22, latency), (0.5, latency), (0.62, throughput), (0.9, throughput)]
    corners.append((1.0, middle))
    images = []

    def place(share: float) -> tuple[float, float]:
        for (begin, (x0, y0)), (end, (x1, y1)) in pairwise(corners):
            if share <= end:
                part = (share - begin) / (end - begin)
                x, y = x0 + part * (x1 - x0), y0 + part * (y1 - y0)
                return box["x"] + box["width"] * x, box["y"] + box["height"] * y
        raise AssertionError(share)

    page.mouse.move(*place(0.0))
    page.mouse.down()
    begin = time.monotonic()
    for frame in range(FRAMES):
        page.mouse.move(*place(frame / FRAMES))
        images.append(page.screenshot(clip=MOVING_CLIP))
        page.wait_for_timeout(1000 * max(0.0, begin + (frame + 1) * FRAME_S - time.monotonic()))
    page.mouse.up()
    return images


def wait_until(page, seconds) -> None:
    while page.evaluate("parseFloat(document.getElementById('elapsed').textContent)") < seconds:
        if page.locator("#result").is_visible():
            raise SystemExit(f"the call is over too early: {page.locator('#result').inner_text()}")
        page.wait_for_timeout(100)


if __name__ == "__main__":
    main()
