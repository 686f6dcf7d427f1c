"""What the test of the callback server runs in a process of its own. Prints JSON.

First argument: ``fresh``, or ``streaming`` for a session whose callback server structured streaming has started, without a token.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

CONNECT = """
import encodings.idna, os, socket, sys
user = int(sys.argv.pop(1))
if user != os.getuid():
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=5) as peer:
    peer.settimeout(5)
    try:
        for line in sys.argv[2:]:
            peer.sendall(line.replace(chr(92) + "n", chr(10)).encode())
        print(repr(peer.recv(200)))
    except OSError as error:
        print(type(error).__name__)
"""


NOBODY = 65534
CALL = r"c\nt\ntoString\ne\n"  # of the object that the JVM calls t


def asked_by(port: int, *lines: str, user: int | None = None) -> str:
    """The answer to a program of its own that sends the lines."""
    user = os.getuid() if user is None else user
    done = subprocess.run(
        [sys.executable, "-I", "-c", CONNECT, str(user), str(port), *lines],
        capture_output=True, text=True, timeout=60, cwd="/", env={},
    )  # fmt: skip
    return (done.stdout + done.stderr[-300:]).strip()


class Held:
    """A connection that another user has made before icesql came."""

    def __init__(self, port: int) -> None:
        program = CONNECT.replace("    try:", "    print(flush=True)\n    sys.stdin.readline()\n    try:")
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", program, str(NOBODY), str(port), CALL],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
        )
        self._process.stdout.readline()

    def asked(self) -> str:
        return self._process.communicate("\n", timeout=60)[0].strip()


def micro_batches(spark: Any, folder: Path) -> list[int]:
    seen: list[int] = []
    source = folder / "source"
    if not source.exists():
        spark.range(10).write.parquet(str(source))
    stream = spark.readStream.schema("id long").parquet(str(source)).writeStream
    query = stream.foreachBatch(lambda frame, number: seen.append(frame.count())).option(
        "checkpointLocation", str(folder / os.urandom(4).hex())
    )
    running = query.trigger(availableNow=True).start()
    running.awaitTermination(120)
    return seen


def main(kind: str, folder: Path) -> dict[str, Any]:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
    spark = builder.config("spark.sql.warehouse.dir", str(folder / "spark")).getOrCreate()
    gateway = spark.sparkContext._gateway
    held: Held | None = None
    found: dict[str, Any] = {}
    if kind == "streaming":
        found["batches before"] = micro_batches(spark, folder)
        port = gateway._callback_server.port
        found["answered without a token"] = asked_by(port, CALL)
        if os.getuid() == 0:
            held = Held(port)

    import icesql

    catalogs = {"c": {"type": "hadoop", "warehouse": str(folder / "warehouse")}}
    session = icesql.connect(spark, catalogs)
    session.sql("CREATE TABLE c.db.t AS SELECT id FROM range(10)")
    query = "SELECT count(*) FROM c.db.t a JOIN (SELECT id FROM c.db.t WHERE id > 4) b ON a.id = b.id"
    found["rows"] = session.sql(query).collect()[0][0]  # broadcasts call back from a thread of their own
    port = gateway._callback_server.port
    found["refused"] = {
        "this user": asked_by(port, CALL),
        "wrong token": asked_by(port, r"A\nguessed\ne\n", CALL),
        **({"another user": asked_by(port, CALL, user=NOBODY)} if os.getuid() == 0 else {}),
    }
    if held is not None:
        found["refused"]["another user who was connected already"] = held.asked()
    found["with the token"] = asked_by(port, rf"A\n{gateway.gateway_parameters.auth_token}\ne\n")
    found["batches after"] = micro_batches(spark, folder)
    found["rows after"] = session.sql(query).collect()[0][0]
    spark.stop()
    again = builder.getOrCreate()  # the same gateway
    found["rows of the next session"] = (
        icesql.connect(again, {"c": {"type": "hadoop", "warehouse": str(folder / "warehouse")}}).sql(query).collect()[0][0]
    )
    found["batches of the next session"] = micro_batches(again, folder)
    again.stop()
    return found


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]))))
