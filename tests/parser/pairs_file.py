"""Files of pairs: an input, a blank line, what is expected, a blank line. Lines that begin with ``---`` are headings."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "pairs"


def pairs(path: Path) -> list[tuple[str, str]]:
    blocks = [block.strip("\n") for block in path.read_text(encoding="utf-8").split("\n\n")]
    blocks = ["\n".join(line for line in block.split("\n") if not line.startswith("---")) for block in blocks]
    blocks = [block for block in blocks if block.strip()]
    assert len(blocks) % 2 == 0, f"{path.name}: an input without an expectation"
    return list(zip(blocks[::2], blocks[1::2], strict=True))


def all_pairs() -> list[tuple[str, str, str]]:
    return [(path.stem, text, expected) for path in sorted(FOLDER.glob("*.sql")) for text, expected in pairs(path)]
