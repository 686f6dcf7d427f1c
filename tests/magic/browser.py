"""Headless Chromium as the reader of what cells and pages show: HTML in, its DOM or the places of its elements out.

It comes from the system's packages (``scripts/install_chromium.sh``). Nothing is skipped: without it, starting fails and says so.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_SCRIPT = """
const seen = [...document.querySelectorAll('#cell *')].map(element => {
  const box = element.getBoundingClientRect();
  const own = [...element.childNodes].filter(node => node.nodeType === 3).map(node => node.data).join('');
  return {tag: element.tagName.toLowerCase(), text: own.trim(), left: box.left, top: box.top, right: box.right, bottom: box.bottom,
          align: getComputedStyle(element).textAlign, kind: element.getAttribute('class') || ''};
});
document.body.dataset.layout = JSON.stringify(seen);
"""
# JupyterLab's own rules for tables in outputs, which a result must look right under
_STYLE = "table{border-collapse:collapse;table-layout:fixed;margin-left:auto;margin-right:auto}td,th{text-align:right;padding:.5em}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    tag: str
    text: str
    left: float
    top: float
    right: float
    bottom: float
    align: str
    kind: str

    def overlaps(self, other: Element) -> bool:
        return self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom


def dom(address: str, folder: Path, *, width: int = 1000) -> str:
    """The HTML of a page once Chromium has built it. Raises RuntimeError where Chromium is not installed."""
    program = next((found for name in _NAMES if (found := shutil.which(name))), None)
    if program is None:
        raise RuntimeError("Cannot show a page: Chromium is not installed: run scripts/install_chromium.sh as root")
    command = [program, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile", f"--window-size={width},2000"]
    return subprocess.run([*command, "--dump-dom", address], capture_output=True, text=True, timeout=120, check=True).stdout


def layout(shown: str, folder: Path, *, width: int = 1000) -> list[Element]:
    """Every element of a cell's HTML, in a page of that width. Raises RuntimeError where Chromium is not installed."""
    page = folder / "page.html"
    page.write_text(f"<!DOCTYPE html><meta charset='utf-8'><style>{_STYLE}</style><div id='cell'>{shown}</div><script>{_SCRIPT}</script>")
    dumped = dom(page.as_uri(), folder, width=width)
    match = re.search(r'data-layout="([^"]*)"', dumped)
    assert match is not None, dumped
    return [Element(**element) for element in json.loads(html.unescape(match[1]))]
