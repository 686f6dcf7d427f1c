"""What comes after a commit cannot fail it; Ctrl-C goes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Thread

import pytest

from icesql.table.after_commit import after_commit, tell_committed, telling
from icesql.table.own_changes import listen, note_change


@dataclass
class Heard:
    notices: list[str] = field(default_factory=list)
    commits: int = 0

    def notice(self, text: str) -> None:
        self.notices.append(text)

    def committed(self) -> None:
        self.commits += 1

    def check_wanted(self) -> None:
        pass


def test_an_error_becomes_a_notice_of_its_first_line() -> None:
    heard = Heard()
    with telling(heard), after_commit("drop view v"):
        raise ValueError("it is open\n  at org.apache.Spark")
    assert heard.notices == ["Cannot drop view v: ValueError: it is open; what was committed stands"]


def test_it_is_logged_where_nobody_listens(caplog: pytest.LogCaptureFixture) -> None:
    with after_commit("drop view v"):
        raise ValueError
    assert caplog.messages == ["Cannot drop view v"] and caplog.records[0].exc_info is not None


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_who_wants_to_stop_stops(stop: type[BaseException]) -> None:
    heard = Heard()
    with pytest.raises(stop), telling(heard), after_commit("drop view v"):
        tell_committed()
        raise stop
    assert heard == Heard([], 1)


def test_the_innermost_statement_of_this_thread_hears_it() -> None:
    outer, inner = Heard(), Heard()
    with telling(outer):
        with telling(inner), after_commit("x"):
            raise ValueError("inside")
        with after_commit("y"):
            raise ValueError("outside")
        other = Thread(target=tell_committed)
        other.start()
        other.join()
    tell_committed()
    assert [len(inner.notices), len(outer.notices), inner.commits + outer.commits] == [1, 1, 0]


def test_each_listener_hears_of_a_change_whatever_the_others_do() -> None:
    told = []

    class Fails:
        def table_changed(self, location: str) -> None:
            told.append(location)
            raise RuntimeError("cannot")

    listeners, heard = [Fails(), Fails()], Heard()
    for listener in listeners:
        listen(listener)
    with telling(heard):
        note_change("memory://t")
    assert told == ["memory://t"] * 2 and len(heard.notices) == 2
