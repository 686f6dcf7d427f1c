"""icesql's own REST catalog on icesql's own server: writes go as files, and the server makes the snapshots. Also over TLS."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from icesql.catalog.loading import load_catalog
from icesql.errors import ValidationError
from icesql.expr.tree import TRUE
from icesql.spec.json.types import schema_from_json
from tests.server.client import SCHEMA
from tests.server.process import ServerProcess

pytestmark = pytest.mark.slow
ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "data": ["a", "b", "c"]})


def test_writes_go_as_files(tmp_path: Path) -> None:
    with ServerProcess(tmp_path) as process:
        catalog = load_catalog("remote", {"type": "rest", "uri": process.uri})
        catalog.create_namespace("db")
        table = catalog.create_table("db.t", schema_from_json(SCHEMA))
        table.append(ROWS)
        events = httpx.get(f"{process.uri}/v1/local/events").json()["events"]
        assert [event.get("actions") for event in events] == [None, ["produce-snapshot"]]
        assert catalog.load_table("db.t").scan().to_arrow().num_rows == 3
        stale = catalog.load_table("db.t").new_overwrite().overwrite_by_row_filter(TRUE).validate_no_conflicting_data()
        stale.validate_from_snapshot(catalog.load_table("db.t").metadata.current_snapshot_id)
        catalog.load_table("db.t").append(ROWS)
        with pytest.raises(ValidationError, match="conflicting files"):
            stale.commit()
        catalog.load_table("db.t").new_delete().delete_from_row_filter(TRUE).commit()
        assert catalog.load_table("db.t").scan().to_arrow().num_rows == 0
        catalog.load_table("db.t").update_properties().set("a", "1").commit()
        assert catalog.load_table("db.t").properties["a"] == "1"


def certificate(folder: Path) -> tuple[Path, Path]:
    """Of 127.0.0.1, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.timezone.utc)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    files = folder / "server.pem", folder / "server.key"
    files[0].write_bytes(built.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return files


class TlsServer(ServerProcess):
    context: Any = None

    @property
    def uri(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.uri}/health", verify=self.context).status_code == 200
        except httpx.TransportError:
            return False


def test_tls(tmp_path: Path) -> None:
    pem, key = certificate(tmp_path)
    (tmp_path / "settings.toml").write_text(f'[tls]\ncertificate = "{pem}"\nkey = "{key}"\n')
    server = TlsServer(tmp_path, ["--config", "settings.toml"])
    server.context = ssl.create_default_context(cafile=str(pem))
    with server:
        assert httpx.get(f"{server.uri}/v1/config", verify=server.context).status_code == 200
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{server.uri}/v1/config")  # by whom it is signed nobody knows
        with pytest.raises(httpx.TransportError):
            httpx.get(f"http://127.0.0.1:{server.port}/v1/config")
