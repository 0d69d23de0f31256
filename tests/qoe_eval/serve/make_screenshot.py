"""Makes the picture of the page for the documentation, of a real call or, with --fake, of a pretended one.

python tests/qoe_eval/serve/make_screenshot.py [--fake] [--scenario NAME] [--sender NAME] [--seconds S] [--out FILE]

The weights are dragged from `balanced` towards throughput on the way. A real call needs what `weir call` needs.
"""

import argparse
import io
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

from PIL import Image
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parent))
from conftest import CHROMIUM, FakeCalls, RunningServer

from weir.qoe_eval.serve import server
from weir.qoe_eval.serve.call_runner import real_calls

SIZE = {"width": 1200, "height": 1000}
FAKE_SPEED = 8.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fake", action="store_true")
    parser.add_argument("--scenario", default="cellular-3m")
    parser.add_argument("--sender", default="chromium")
    parser.add_argument("--seconds", type=float, default=57.0, help="into the call, when the picture is taken")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--out", type=Path, default=Path(server.__file__).parent / "serve.png")
    options = parser.parse_args()
    calls = FakeCalls(speed=FAKE_SPEED) if options.fake else SimpleNamespace(backend=real_calls)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        running = RunningServer(Path(folder) / "calls", calls, None)
        try:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = browser.new_page(viewport=SIZE, color_scheme="dark" if options.dark else "light")
            page.goto(running.url)
            take(page, options)
            image = page.screenshot()
            browser.close()
        finally:
            running.close()
    picture = Image.open(io.BytesIO(image)).convert("RGB").quantize(128, method=Image.Quantize.MEDIANCUT, dither=0)
    picture.save(options.out, optimize=True)
    print(options.out, f"{options.out.stat().st_size / 1000:.0f} kB")


def take(page, options) -> None:
    page.wait_for_selector("#status[data-state=ready]")
    page.locator(f"input[value='{options.scenario}']").locator("..").click()
    page.locator(f"input[value='{options.sender}']").locator("..").click()
    page.locator("#size").select_option("640x360")
    page.locator("#duration").fill(f"{options.seconds + 20:.0f}")
    page.locator("#start").click()
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


def wait_until(page, seconds) -> None:
    while page.evaluate("parseFloat(document.getElementById('elapsed').textContent)") < seconds:
        if page.locator("#result").is_visible():
            raise SystemExit(f"the call is over too early: {page.locator('#result').inner_text()}")
        page.wait_for_timeout(100)


if __name__ == "__main__":
    main()
