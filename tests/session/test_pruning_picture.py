"""The picture of EXPLAIN PRUNING and the line of a long call, without Spark."""

from __future__ import annotations

import io

from icesql.pictures.pruning_steps import Planning, steps
from icesql.pictures.pruning_svg import pruning_svg
from icesql.procedures.progress import Progress
from icesql.session.output.pruning_line import progress_line, pruning_line
from icesql.session.output.pruning_picture import print_picture
from icesql.table.scan.report import ScanReport, Skipped

REPORT = ScanReport(
    table_name="local.db.t",
    manifests_total=4,
    manifests_scanned=2,
    manifests_skipped=(Skipped("day = 3", 2),),
    files_total=100,
    files_in_skipped_manifests=40,
    files_scanned=60,
    files_skipped_by_partition=(Skipped("day = 3", 30, 300),),
    files_skipped_by_metrics=(Skipped("id < 5", 25, 250),),
    files_planned=5,
    bytes_planned=5000,
)


def test_steps_lead_from_all_files_to_those_read() -> None:
    found = list(steps(Planning(REPORT, 105_000)))
    assert [step.files for step in found] == [100, 60, 30, 5, 5]
    assert [step.share for step in found] == [1.0, 0.6, 0.3, 0.05, 0.05]
    assert [step.manifests for step in found] == [4, 2, 2, 2, 2]


def test_unknown_totals_draw_nothing() -> None:
    report = ScanReport(files_total=None, files_in_skipped_manifests=None)
    assert list(steps(Planning(report))) == []
    assert pruning_svg([Planning(report)]) == ""


def test_bars_are_as_long_as_what_is_left() -> None:
    out = io.StringIO()
    print_picture([Planning(REPORT, 105_000)], out)
    lines = out.getvalue().splitlines()
    assert lines[0] == "local.db.t"
    assert [line.count("█") for line in lines[1:]] == [40, 24, 12, 2, 2]
    assert "after metrics: id < 5" in lines[4]
    assert lines[5].rstrip().endswith("read, 5.0 kB")


def test_the_svg_escapes_predicates() -> None:
    picture = pruning_svg([Planning(REPORT)])
    assert "id &lt; 5" in picture
    assert picture.count("<rect") == 5


def test_lines() -> None:
    assert pruning_line([Planning(REPORT, 105_000)]) == "manifests read 2 of 4, files read 5 of 100, 100.0 kB skipped"
    assert progress_line(Progress("file groups rewritten", 3, 12, 1_000, 4_000)) == "file groups rewritten: 3 of 12, 1.0 kB of 4.0 kB"
    assert progress_line(Progress("files added", 3, 12)) == "files added: 3 of 12"
    assert (Progress("x", 3, 12, 1_000, 4_000).share, Progress("x", 3, 12).share, Progress("x", 0, 0).share) == (0.25, 0.25, 1.0)
