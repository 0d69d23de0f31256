"""Opens pages in Debian's browser, as tests look at them."""

SIZES = {"desktop": (1280, 900), "phone": (390, 844)}


def open_page(chromium, path, scheme="light", size="desktop"):
    width, height = SIZES[size]
    page = chromium.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on(
        "request",
        lambda request: None if request.url.startswith(("file:", "data:", "blob:")) else wrong.append(request.url),
    )
    page.goto(path.as_uri())
    page.wait_for_selector(".chart .main-svg")
    return page, wrong


def check_page(chromium, path, scheme, size, fewest_lines):
    """Checks that a page opens without faults, fits the width, draws its lines, and follows the colour scheme."""
    page, wrong = open_page(chromium, path, scheme, size)
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    assert page.locator(".chart .scatterlayer .trace path.js-line").count() >= fewest_lines
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, background[4:-1].split(","))) < 200) == (scheme == "dark")
    assert wrong == []
    page.close()
