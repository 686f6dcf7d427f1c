"""A real S3 server for the tests: versitygw over a folder of its own, on a free port, stopped afterwards.

``scripts/fetch_s3_server.sh`` builds it. Nothing is skipped: without it, starting fails and says so.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2] / ".oracle" / "bin" / "versitygw-v1.8.0"
ACCESS_KEY, SECRET_KEY, REGION = "icesql", "icesql-secret", "us-east-1"
_START_SECONDS = 30


@dataclass
class S3Server:
    folder: Path
    port: int
    process: subprocess.Popen[bytes]

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def properties(self, endpoint: str | None = None) -> dict[str, str]:
        """Iceberg's keys that reach it."""
        return {
            "s3.endpoint": endpoint or self.endpoint,
            "s3.access-key-id": ACCESS_KEY,
            "s3.secret-access-key": SECRET_KEY,
            "s3.region": REGION,
            "s3.path-style-access": "true",
        }

    def new_bucket(self, name: str) -> str:
        """An empty bucket; its location."""
        (self.folder / "data" / name).mkdir()
        return f"s3://{name}"

    def files(self, bucket: str) -> list[str]:
        """The names of all objects, as they lie in the server's folder."""
        root = self.folder / "data" / bucket
        return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() and ".sgwtmp" not in path.parts)

    def unfinished_uploads(self, bucket: str) -> list[str]:
        """Multipart uploads that were begun and neither completed nor aborted, asked for through S3."""
        import boto3

        client = boto3.client(
            "s3", endpoint_url=self.endpoint, aws_access_key_id=ACCESS_KEY, aws_secret_access_key=SECRET_KEY, region_name=REGION
        )
        return [upload["Key"] for upload in client.list_multipart_uploads(Bucket=bucket).get("Uploads", [])]


def start_s3() -> S3Server:
    if not PROGRAM.exists():
        raise RuntimeError("Cannot start the S3 server: it is not built: run scripts/fetch_s3_server.sh")
    folder = Path(tempfile.mkdtemp(prefix="icesql-s3-"))
    (folder / "data").mkdir()
    port = free_port()
    arguments = ["--port", f"127.0.0.1:{port}", "--region", REGION, "--quiet", "posix", *_sidecar(folder), str(folder / "data")]
    environment = {**os.environ, "ROOT_ACCESS_KEY": ACCESS_KEY, "ROOT_SECRET_KEY": SECRET_KEY}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([str(PROGRAM), *arguments], env=environment, stdout=log, stderr=log)
    deadline = time.monotonic() + _START_SECONDS
    while not _answers(port):
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"Cannot start the S3 server: {(folder / 'log').read_text()[-2000:]}")
        time.sleep(0.02)
    return S3Server(folder, port, process)


def stop_s3(server: S3Server) -> None:
    server.process.terminate()
    server.process.wait(timeout=30)
    shutil.rmtree(server.folder, ignore_errors=True)


@contextmanager
def s3_server() -> Iterator[S3Server]:
    server = start_s3()
    try:
        yield server
    finally:
        stop_s3(server)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _sidecar(folder: Path) -> list[str]:
    """Where the file system has no extended attributes, the server keeps what it knows of objects beside them."""
    probe = folder / "probe"
    probe.touch()
    try:
        os.setxattr(probe, "user.icesql", b"1")
    except OSError:
        (folder / "sidecar").mkdir()
        return ["--sidecar", str(folder / "sidecar")]
    finally:
        probe.unlink()
    return []
