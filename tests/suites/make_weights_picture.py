"""Makes the picture of rate over delay under several weights, for the documents, from the page of a suite.

weir evaluate --suite steering --seeds 5 --out DIR      (with WEIR_SHARED, else two of the six sets are missing)
python tests/suites/make_weights_picture.py DIR/evaluation.html [--out docs/weights.webp]
"""

import argparse
import io
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from weir_calls.requirements import CHROMIUM

SIZE = {"width": 1200, "height": 900}
SECTION = "#weights"
# Plotly has drawn all charts of the section.
DRAWN = f"() => [...document.querySelectorAll('{SECTION} .chart')].every((chart) => chart.querySelector('.main-svg'))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs/weights.webp"))
    options = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        page.goto(options.page.resolve().as_uri())
        page.wait_for_function(DRAWN)
        picture = page.locator(SECTION).screenshot()
        browser.close()
    Image.open(io.BytesIO(picture)).save(options.out, quality=90)


if __name__ == "__main__":
    main()
