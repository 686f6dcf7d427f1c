"""Reports of scans and commits, as Iceberg's own server takes them."""

from __future__ import annotations

import json

import pytest

from icesql.catalog.rest.catalog import RestCatalog
from icesql.expr.tree import Op, Predicate, Reference
from tests.catalog.tables import SCHEMA, rows
from tests.rest.conftest import open_catalog
from tests.rest.proxy import FaultProxy, status

pytestmark = pytest.mark.slow


def reports(proxy: FaultProxy) -> list[dict]:
    return [json.loads(call.body) for call in proxy.seen if call.path.endswith("/metrics")]


def test_commits_and_scans_are_reported(behind: RestCatalog, proxy: FaultProxy, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "icesql.catalog.rest.metrics")
    table = behind.create_table("db.t", SCHEMA)
    table.append(rows(1, 2))
    table.scan(Predicate(Op.EQ, Reference("id"), (77777,))).plan_files()
    behind.metrics.flush()
    commit, scan = reports(proxy)
    assert commit["report-type"] == "commit-report" and commit["operation"] == "append"
    assert commit["metrics"]["added-records"]["value"] == 2
    assert commit["snapshot-id"] == scan["snapshot-id"] == table.current_snapshot.snapshot_id
    assert scan["report-type"] == "scan-report" and scan["table-name"] == "test.db.t"
    assert scan["metrics"]["skipped-data-files"]["value"] == 1
    assert "77777" not in json.dumps(scan), "values stay here"
    assert scan["filter"] == {"type": "eq", "term": "id", "value": "(long)"}
    assert not [record for record in caplog.records if record.name.startswith("icesql")], "the server took them"


def test_a_report_that_fails_fails_nothing(behind: RestCatalog, proxy: FaultProxy) -> None:
    proxy.chosen, proxy.faults = (lambda call: call.path.endswith("/metrics")), [status(500, after=False)]
    table = behind.create_table("db.t", SCHEMA)
    table.append(rows(1))
    table.append(rows(2))
    behind.metrics.flush()
    assert proxy.failures == 1 and len(reports(proxy)) == 2


def test_reports_can_be_turned_off(proxy: FaultProxy, warehouse: object) -> None:
    catalog = open_catalog(proxy.uri, **{"rest-metrics-reporting-enabled": "false"})
    catalog.create_table("db.t", SCHEMA).append(rows(1))
    catalog.metrics.flush()
    assert reports(proxy) == []
