"""What PyIceberg's users have configured, read as a last source; asked of PyIceberg itself as well."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from icesql.catalog.config import catalog_configurations, catalog_type
from icesql.catalog.pyiceberg_config import pyiceberg_catalogs
from icesql.errors import InvalidArgumentError

FILE = """
catalog:
  prod:
    uri: https://lake.example/catalog
    credential: id:secret
    s3.path-style-access: true
    ssl:
      client:
        cert: /a.pem
  other:
    type: sql
    uri: sqlite:////x.db
"""


def test_the_file_and_the_environment(tmp_path: Path) -> None:
    (tmp_path / ".pyiceberg.yaml").write_text(FILE)
    environ = {
        "PYICEBERG_HOME": str(tmp_path),
        "PYICEBERG_CATALOG__PROD__S3__ACCESS_KEY_ID": "k",
        "PYICEBERG_CATALOG__PROD__CREDENTIAL": "e",
    }
    found = catalog_configurations(environ=environ)
    assert found["prod"] == {
        "uri": "https://lake.example/catalog", "credential": "e", "s3.path-style-access": "true", "ssl.client.cert": "/a.pem",
        "s3.access-key-id": "k",
    }  # fmt: skip
    assert catalog_type("prod", found["prod"]) == "rest"
    assert catalog_type("other", found["other"]) == "sql"
    code = "from pyiceberg.utils.config import Config; print(Config().get_catalog_config('prod')['s3.access-key-id'])"
    asked = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environ}, check=True)
    assert asked.stdout.strip() == found["prod"]["s3.access-key-id"]


def test_it_is_the_last_source_and_completes_only_its_own_kind(tmp_path: Path) -> None:
    (tmp_path / ".pyiceberg.yaml").write_text(FILE)
    environ = {"HOME": str(tmp_path), "ICESQL_CATALOG__PROD__WAREHOUSE": "w"}
    assert catalog_configurations(environ=environ)["prod"]["warehouse"] == "w"
    assert catalog_configurations(environ=environ)["prod"]["credential"] == "id:secret"
    of_another_type = catalog_configurations(
        {"spark.sql.catalog.prod.type": "sql", "spark.sql.catalog.prod.uri": "sqlite://"}, environ=environ
    )
    assert "credential" not in of_another_type["prod"]


def test_a_file_that_is_no_yaml_is_named(tmp_path: Path) -> None:
    (tmp_path / ".pyiceberg.yaml").write_text("catalog:\n  a: [\n")
    with pytest.raises(InvalidArgumentError, match=r"Cannot read catalogs of .*\.pyiceberg\.yaml: not YAML at line 3"):
        pyiceberg_catalogs({"HOME": str(tmp_path)})
    (tmp_path / ".pyiceberg.yaml").write_text("nothing: here\n")
    assert pyiceberg_catalogs({"HOME": str(tmp_path)}) == {}
    assert pyiceberg_catalogs({}) == {}
