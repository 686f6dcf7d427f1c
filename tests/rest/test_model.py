"""The model's random histories over servers: our own, which makes the snapshots, and Iceberg's, for which they are made here."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from icesql.catalog.rest import commits
from icesql.errors import ValidationError
from tests.effort import scaled
from tests.model.history import SERVED, Stage, moves_of, play, staged

pytestmark = pytest.mark.slow
HISTORIES = 100


@pytest.fixture(scope="module", autouse=True)
def quiet() -> Iterator[None]:
    """The product's warnings are about the faults it was given."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with staged() as made:
        yield made


@pytest.mark.parametrize("kind", SERVED)
def test_random_histories_keep_every_row_and_file(kind: str, stage: Stage) -> None:
    for seed in range(scaled(HISTORIES)):
        broken = play(stage, *moves_of(seed, kinds=(kind,)))
        if broken is not None:
            pytest.fail(f"seed {seed}: {broken}\n" + "\n".join(broken.__notes__))


def test_the_model_sees_doubt_that_is_taken_for_failure(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """As clients do that clean up after a 503: a commit that was made is called failed, and its files go."""

    def failed(look: object, properties: object, doing: str, cause: Exception) -> None:
        raise ValidationError(f"Cannot {doing}: {cause}")

    monkeypatch.setattr(commits, "settle", failed)
    actions = ("append", "append_to_two", "overwrite", "delete")
    assert any(play(stage, *moves_of(seed, only=actions, kinds=("reference",))) is not None for seed in range(200))
