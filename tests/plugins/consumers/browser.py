"""Serves FOLDER, and prints what consumer.html in it logs first in a browser: browser.py FOLDER CHROMIUM."""

import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from playwright.sync_api import sync_playwright


class Files(SimpleHTTPRequestHandler):
    """Without a line for each request."""

    def log_message(self, *_):
        pass


folder, chromium = sys.argv[1:]
server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=folder))
Thread(target=server.serve_forever, daemon=True).start()
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
    page = browser.new_page()
    page.on("pageerror", lambda error: print(error, file=sys.stderr))
    # Chromium's own messages, such as one about a missing icon, are errors.
    with page.expect_console_message(lambda message: message.type == "log") as message:
        page.goto(f"http://127.0.0.1:{server.server_port}/consumer.html")
    print(message.value.text)
    browser.close()
