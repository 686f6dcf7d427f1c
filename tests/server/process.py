"""``icesql serve`` as a process of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 60


@dataclass
class ServerProcess:
    """Serves the catalog in ``folder/warehouse``. ``kill`` and ``start`` again to see what a crash does."""

    folder: Path
    arguments: Sequence[str] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    def start(self) -> ServerProcess:
        self.port = self.port or free_port()
        command = [sys.executable, "-m", "icesql.cli.main", "serve", "--port", str(self.port), *self.arguments]
        environ = {**os.environ, **self.environ, "PYTHONPATH": str(ROOT)}
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, env=environ)
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server did not start: {self.log[-2000:]}")
            time.sleep(0.05)
        return self

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.uri}/v1/config", timeout=5):
                return True
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Its exit code."""
        if self.process is None:
            return 0
        self.process.send_signal(how)
        code = self.process.wait(timeout=60)
        self.process = None
        return code

    def kill(self) -> None:
        self.stop(signal.SIGKILL)

    def __enter__(self) -> ServerProcess:
        return self.start()

    def __exit__(self, *_: object) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(timeout=60)
            self.process = None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
