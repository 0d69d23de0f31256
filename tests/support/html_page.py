"""Checks of the reports' pages."""

import base64
import json
import re
import zlib
from html.parser import HTMLParser

VOID = {"meta", "br"}


class Checker(HTMLParser):
    """Collects elements, ids, styles and text, and insists that every element is closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.elements, self.ids, self.links, self.styles, self.text = [], [], [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.elements.append(tag)
        self.styles += [value for name, value in attributes if name == "style"]
        self.ids += [value for name, value in attributes if name == "id"]
        self.links += [value for name, value in attributes if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            self.styles.append(data)
        elif not self.open or self.open[-1] != "script":
            self.text.append(data)


def check(page):
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.open == []
    return checker


def data_of(page):
    return json.loads(unpacked(page, "data"))


def unpacked(page, name):
    """The text that the page's scripts unpack from an element."""
    packed = re.search(rf'<script type="text/plain" id="{name}">([\w+/=]*)</script>', page)[1]
    return zlib.decompress(base64.b64decode(packed)).decode()


def table_of(page, section):
    """The first table of a section: the texts of the cells by row, that of heads first."""
    table = re.search(rf'<section id="{section}">.*?<table>(.*?)</table>', page, re.DOTALL)[1]
    rows = [re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL) for row in re.split("<tr[^>]*>", table)[1:]]
    return [[" ".join("".join(f" {text}" for text in check(cell).text).split()) for cell in row] for row in rows]
