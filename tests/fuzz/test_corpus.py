"""Every file that fuzzing found worth keeping still ends as it must, with the module as it is installed. Exploring: ``./dev fuzz``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.seeds import CORPUS, seeds
from tests.fuzz.targets import TARGETS

MOST_BYTES = 300_000


@pytest.mark.parametrize("target", TARGETS)
def test_the_corpus_of_a_target(target: str) -> None:
    files = sorted((CORPUS / target).iterdir())
    assert files
    for path in files:
        TARGETS[target](path.read_bytes())


def test_the_corpus_is_small_and_has_all_seeds() -> None:
    assert {folder.name for folder in CORPUS.iterdir()} == set(TARGETS)
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < MOST_BYTES
    for target, files in seeds().items():
        assert len(list((CORPUS / target).glob("seed-*"))) == len(files)


def test_a_fault_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The targets do compare: a decoder that differs is told."""
    from icesql.io.avro import columns_python as avro_columns_python

    def wrong(*arguments: object) -> None:
        raise ValueError("no", 0)

    monkeypatch.setattr(avro_columns_python, "decode_rows", wrong)
    sound = Path(CORPUS / "columns" / "seed-02").read_bytes()
    with pytest.raises(AssertionError):
        TARGETS["columns"](sound)
