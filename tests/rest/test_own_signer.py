"""Our client on our own server, which signs each request to S3: nobody on the client's side has a key."""

from __future__ import annotations

from pathlib import Path

import pytest

from icesql.expr.tree import Op, Predicate, Reference
from tests.catalog.tables import BY_ID, SCHEMA, rows
from tests.rest.conftest import open_catalog
from tests.server.process import ServerProcess
from tests.stores.s3_server import s3_server

pytestmark = pytest.mark.slow


def test_a_table_whose_requests_the_server_signs(tmp_path: Path) -> None:
    with s3_server() as s3:
        location = s3.new_bucket("lake") + "/wh"
        settings = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": location, **s3.properties()}
        lines = "\n".join(f'"{key}" = "{value}"' for key, value in settings.items())
        (tmp_path / "settings.toml").write_text(f"[catalogs.prod]\n{lines}\n[storage.prod]\nremote-signing = true\n")
        with ServerProcess(tmp_path, ["--config", str(tmp_path / "settings.toml")]) as process:
            catalog = open_catalog(process.uri, **{"header.X-Iceberg-Access-Delegation": "remote-signing"})
            catalog.create_namespace("db")
            table = catalog.create_table("db.t", SCHEMA, spec=BY_ID)
            table.append(rows(1, 2, 3))
            table.delete(Predicate(Op.EQ, Reference("id"), (2,)))
            assert sorted(table.to_arrow()["id"].to_pylist()) == [1, 3]
            before = len(s3.files("lake"))
            table.expire_snapshots().expire_older_than(4_000_000_000_000).retain_last(1).commit()
            assert len(s3.files("lake")) < before + 1, "what only the expired snapshot had is removed, under signatures"
            assert sorted(catalog.load_table("db.t").to_arrow()["id"].to_pylist()) == [1, 3]
            other = catalog.create_table("db.other", SCHEMA)
            with pytest.raises(PermissionError, match="the catalog does not sign"):
                other.io.read(str(next(table.scan().plan_files().tasks).file_path))
            catalog.drop_table("db.t", purge=True)
            assert not [name for name in s3.files("lake") if "/db/t/" in name], "the server removed the files"
