"""Random histories keep the promises; and the model sees it when one is broken."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from icesql.catalog.table_operations import MetastoreTableOperations
from icesql.errors import CommitFailedError, CommitStateUnknownError
from icesql.table import expire_snapshots, snapshot_producer, validation
from tests.effort import scaled
from tests.model.actions import ACTIONS
from tests.model.history import KINDS, Broken, Move, Player, Stage, moves_of, play, staged

HISTORIES = 100  # of each of the two kinds of test; CI's share of what ``python -m tests.model`` plays by the thousand


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


def test_random_histories_keep_every_row_and_file(stage: Stage) -> None:
    for seed in range(scaled(4 * HISTORIES)):
        kind, moves = moves_of(seed)
        broken = play(stage, kind, moves)
        if broken is not None:
            pytest.fail(f"python -m tests.model --seed {seed} --histories 1: {broken}\n" + "\n".join(broken.__notes__))


def test_steps_chosen_and_made_fewer_by_hypothesis(stage: Stage) -> None:
    run_state_machine_as_test(
        _machine(stage),
        settings=settings(
            max_examples=scaled(HISTORIES), stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True
        ),
    )


def _machine(stage: Stage) -> type[RuleBasedStateMachine]:
    seeds = st.integers(0, 2**32)

    class Machine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.player: Player | None = None

        @initialize(kind=st.sampled_from(KINDS), create=seeds, append=seeds)
        def begin(self, kind: str, create: int, append: int) -> None:
            self.player = Player(stage, kind)
            self.player.play(Move("create", create, calm=True))
            self.player.play(Move("append", append, calm=True))

        @rule(action=st.sampled_from(sorted([*ACTIONS, "release"])), seed=seeds, hold=st.booleans())
        def step(self, action: str, seed: int, hold: bool) -> None:
            assert self.player is not None
            self.player.play(Move(action, seed, hold=hold))

        def teardown(self) -> None:
            if self.player is not None:
                self.player.finish()
                self.player.close()

    return Machine


# -- the model sees faults that were there once --------------------------------------------------------------------------
def broken_by(stage: Stage, tries: int, only: Sequence[str] = (), kinds: Sequence[str] = KINDS) -> Broken | None:
    """The first thing that breaks in so many histories."""
    histories = (moves_of(seed, only=only, kinds=kinds) for seed in range(tries))
    return next((broken for kind, moves in histories if (broken := play(stage, kind, moves)) is not None), None)


def test_it_sees_deleted_rows_return(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rewrite that forgets the numbers its own files keep."""
    real = snapshot_producer.oldest_data_sequence_number
    monkeypatch.setattr(snapshot_producer, "oldest_data_sequence_number", lambda last, kept, added: real(last, kept, None))
    broken = broken_by(stage, 300, ("append", "delete_equal", "compact"), ("memory",))
    assert broken is not None
    assert "that are not there" in str(broken)


def test_it_sees_an_unknown_outcome_called_failed(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    real = MetastoreTableOperations.commit

    def commit(self: Any, base: Any, metadata: Any) -> Any:
        try:
            return real(self, base, metadata)
        except CommitStateUnknownError as error:
            raise CommitFailedError(str(error)) from error

    monkeypatch.setattr(MetastoreTableOperations, "commit", commit)
    assert broken_by(stage, 300, ("append", "delete_equal", "rename", "drop", "create"), ("memory",)) is not None


def _of_what_goes(manifests: Any) -> Any:
    """Expiry lists the manifests that go, and holds those that stay in a dict."""
    return manifests if isinstance(manifests, list) else []


def test_it_sees_files_of_kept_snapshots_go(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """An expiry that forgets that kept snapshots share files with those that go."""
    real = expire_snapshots.content_files
    monkeypatch.setattr(expire_snapshots, "content_files", lambda io, manifests, specs: real(io, _of_what_goes(manifests), specs))
    broken = broken_by(stage, 300, ("append", "delete", "expire", "compact"), ("sql",))
    assert broken is not None
    assert "gone" in str(broken) or "cannot be read" in str(broken)


def test_it_sees_deletes_lost_by_a_rewrite(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rewrite that does not look for deletes committed while it ran."""
    monkeypatch.setattr(validation.Validator, "_no_new_deletes_for", lambda self, validation: None)
    monkeypatch.setattr(validation.Validator, "_check_new_deletion_vectors", lambda self: None)
    broken = broken_by(stage, 300, ("append", "delete_positions", "compact"), ("hadoop",))
    assert broken is not None
