"""A server that tells what it holds, in a line of JSON for each line of its input. Arguments: the ports of JDBC and Connect."""

from __future__ import annotations

import json
import sys
import threading

import psutil

from icesql.sql_server.running import Options, SqlServer

SOON = {"spark.connect.session.manager.defaultSessionTimeout": "90s", "spark.connect.session.manager.maintenanceInterval": "2s"}
HIVE = {"hive.server2.thrift.worker.keepalive.time": "2s"}  # threads of connections that have ended go soon, too

server = SqlServer(
    Options(
        jdbc_port=int(sys.argv[1]),
        connect_port=int(sys.argv[2]),
        conf={"spark.driver.memory": "1g", "spark.ui.showConsoleProgress": "false", **SOON, **HIVE},
        master="local[2]",
    )
)
print("ready", flush=True)
for _ in sys.stdin:
    jvm = server.spark._jvm
    jvm.System.gc()
    beans = jvm.java.lang.management.ManagementFactory
    views = server.spark._jsparkSession.sessionState().catalog().listLocalTempViews("*").size()
    held = {
        "sessions": len(server.clients),
        "spark_sessions": len({session for each in server._servers for session in each.open_sessions()}),
        "views": views,
        "python_threads": threading.active_count(),
        "java_threads": beans.getThreadMXBean().getThreadCount(),
        "heap": beans.getMemoryMXBean().getHeapMemoryUsage().getUsed(),
        "python_memory": psutil.Process().memory_info().rss,
        "descriptors": psutil.Process().num_fds(),
    }
    print(json.dumps(held), flush=True)
server.stop()
