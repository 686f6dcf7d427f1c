"""``icesql doctor`` on a real S3 server, on local files, and with wrong settings."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path

import pytest

from icesql.cli.doctor import examine
from icesql.io.stores.checks import masked
from icesql.io.stores.object_files import ObjectFileIO
from tests.stores.s3_server import S3Server, free_port


def run(location: str | None, conf: dict[str, str], catalog: str | None = None) -> tuple[int, str]:
    out = io.StringIO()
    code = examine(location, conf, catalog, asks_spark=False, out=out)
    return code, out.getvalue()


@pytest.mark.slow
def test_a_bucket(s3: S3Server, bucket: str) -> None:
    conf = {f"spark.sql.catalog.lake.{key}": value for key, value in {**s3.properties(), "type": "hadoop"}.items()}
    conf["spark.sql.catalog.lake"] = "org.apache.iceberg.spark.SparkCatalog"
    conf["spark.sql.catalog.lake.warehouse"] = f"s3://{bucket}/wh"
    code, text = run(None, conf, "lake")
    steps = [line.split(":")[0] for line in text.splitlines()[1:]]
    assert code == 0, text
    assert steps == ["ok   store", "ok   write", "ok   read", "ok   conditional put", "ok   list", "ok   delete"]
    assert f"s3 {bucket}; endpoint {s3.endpoint}; region us-east-1; credentials: given, access key ..." in text
    assert "icesql-secret" not in text
    assert s3.files(bucket) == []
    assert run(f"s3://{bucket}/wh/db/t", conf)[0] == 0  # the catalog is found by the location


@pytest.mark.slow
def test_a_bucket_whose_server_ignores_the_condition(s3: S3Server, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write = ObjectFileIO.write
    monkeypatch.setattr(ObjectFileIO, "write", lambda self, location, data, overwrite=True: write(self, location, data))
    code, text = run(f"s3://{bucket}", s3.properties())
    assert code == 1
    assert "FAIL conditional put: the store takes a second writer of one name" in text
    assert s3.files(bucket) == []


def test_local_files(tmp_path: Path) -> None:
    code, text = run(str(tmp_path), {})
    assert code == 0, text
    assert list(tmp_path.iterdir()) == []


def test_steps_as_json(tmp_path: Path) -> None:
    out = io.StringIO()
    assert examine(str(tmp_path), {}, None, asks_spark=False, form="json", out=out) == 0
    steps = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [step["step"] for step in steps] == ["store", "write", "read", "conditional put", "list", "delete"]
    assert all(step["is_ok"] and step["location"] == str(tmp_path) for step in steps)


def test_no_network_is_told_soon() -> None:
    conf = {"s3.endpoint": f"http://127.0.0.1:{free_port()}", "s3.access-key-id": "AKIAEXAMPLE", "s3.secret-access-key": "hush"}
    begun = time.monotonic()
    code, text = run("s3://lake/x", conf)
    assert time.monotonic() - begun < 10
    assert code == 1
    assert "FAIL write: Cannot write s3://lake/x/.icesql-doctor-" in text
    assert "the store does not answer" in text
    assert "AK...LE" in text
    assert "hush" not in text


def test_a_catalog_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(None, {}, "nowhere")[0] == 1
    assert "it is not configured" in capsys.readouterr().err


def test_keys_are_masked() -> None:
    assert (masked("AKIAIOSFODNN7EXAMPLE"), masked("short")) == ("AK...LE", "...")
