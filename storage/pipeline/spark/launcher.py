"""Spark's Java, started by ourselves: on this computer, where nobody has set Spark up otherwise.

Spark's own way leads through three shells, a Python and another Java, only to learn what we know,
and gives Java 280 files to look for each class in, most of them for clusters.
"""

import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final

import pyspark
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.serializers import UTF8Deserializer, read_int

from storage.pipeline.spark import class_archive
from storage.pipeline.spark.environment import environment
from storage.pipeline.spark.java import find_java

HOME: Final = Path(pyspark.__file__).parent

KNOWN: Final = "4.3."
"""The pyspark whose files and options these are; another one is started in its own way."""

SET_UP: Final = ("SPARK_", "HADOOP_", "YARN_", "PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY")
"""Beginnings of variables by which somebody tells Spark's own way of starting what it should do."""

PYSPARKS: Final = frozenset({"SPARK_AUTH_SOCKET_TIMEOUT", "SPARK_BUFFER_SIZE"})
"""Variables that pyspark itself sets, in the process that it has started Spark from."""

MAIN: Final = "org.apache.spark.api.python.PythonGatewayServer"

OPENED: Final = (
    *(f"java.base/java.{name}" for name in ("io", "net", "nio")),
    *(f"java.base/java.lang{name}" for name in ("", ".invoke", ".reflect")),
    *(f"java.base/java.util{name}" for name in ("", ".concurrent", ".concurrent.atomic")),
    "java.base/jdk.internal.ref",
    *(f"java.base/sun.{name}" for name in ("nio.ch", "nio.cs", "security.action", "util.calendar")),
    "java.security.jgss/sun.security.krb5",
)
"""Packages of Java itself that Spark reaches into (its `JavaModuleOptions`)."""

OPTIONS: Final = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    "--add-modules=jdk.incubator.vector",
    *(f"--add-opens={package}=ALL-UNNAMED" for package in OPENED),
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
)
"""Options of Spark for each Java; some are for newer ones; the first lets older ones take them."""

FIRST: Final = (
    "scala-library",
    "spark-catalyst",
    "spark-sql",
    "spark-core",
    "spark-",
    "hadoop-client-api",
    "parquet-",
    "commons-compiler",
    "janino",
)
"""Files that hold most classes, where Java looks first."""

LEFT_OUT: Final = {
    "clusters": (
        "curator- jjwt- kubernetes- spark-kubernetes spark-yarn vertx- volcano- zjsonpatch "
        "zookeeper"
    ),
    "Hive": (
        "HikariCP- ST4 antlr-runtime commons-dbcp commons-pool datanucleus- derby hive- "
        "javax.jdo jdo-api jpam jta- libfb303 libthrift opencsv oro- spark-hive stax-api "
        "super-csv transaction-api"
    ),
    "learning from data, graphs, streams": (
        "JLargeArrays JTransforms algebra_ arpack avro-ipc blas- breeze cats-kernel joda-time "
        "lapack spark-graphx spark-mllib spark-streaming spire"
    ),
    "shells and servers": "jline- scala-compiler spark-connect spark-pipelines spark-repl",
    "the web": (
        "aopalliance audience hk2- http istack jakarta.xml javassist jaxb- jersey- xmlschema "
        "metrics-graphite"
    ),
    "networks and stores": (
        "leveldbjni netty-codec-dns netty-codec-http netty-codec-socks netty-handler-proxy "
        "netty-resolver-dns netty-tcnative netty-transport-classes-kqueue rocksdbjni"
    ),
}
"""Beginnings of files that queries on this computer do not need, by their purpose."""

LOOK_EVERY_S: Final = 0.02
"""For Java to be there; it takes a second."""


def is_set_up(home: Path = HOME) -> bool:
    """Return whether Spark must start its own way: somebody set it up, or pyspark is unknown."""
    return (
        not pyspark.__version__.startswith(KNOWN)
        or any(name.startswith(SET_UP) for name in os.environ.keys() - PYSPARKS)
        or (home / "conf").exists()
    )


def class_path(jars: Path = HOME / "jars") -> str:
    """Return where Java looks for classes, and in which order."""
    left_out = tuple(" ".join(LEFT_OUT.values()).split())
    names = sorted(path.name for path in jars.glob("*.jar"))
    wanted = [name for name in names if not name.startswith(left_out)]
    wanted.sort(key=lambda name: [not name.startswith(first) for first in FIRST])
    return os.pathsep.join(str(jars / name) for name in wanted)


def start(  # py4j has no types
    settings: Mapping[str, str], noise: IO[bytes], recorded: Path | None
) -> Any:  # noqa: ANN401
    """Start Java, and return the way into it, as `launch_gateway` of pyspark does.

    Args:
        settings: Spark's; memory and options of its driver are for Java itself.
        noise: where Java writes what it says.
        recorded: where it writes the classes it has loaded when it ends, None if it should not.

    Raises:
        PySparkRuntimeError: it does not start.
    """
    command = [
        find_java(),
        f"-Xmx{settings['spark.driver.memory']}",
        *shlex.split(settings["spark.driver.extraJavaOptions"]),
        *OPTIONS,
        *class_archive.options(recorded),
        "-cp",
        class_path(),
        MAIN,
    ]
    with tempfile.TemporaryDirectory(prefix="chat-tui-") as name:
        info = Path(name) / "port"
        process = subprocess.Popen(  # noqa: S603  # the Java that `check_java` looked at
            command,
            # it ends when this is closed, whatever becomes of us
            stdin=subprocess.PIPE,
            stdout=noise,
            stderr=noise,
            env={**os.environ, "_PYSPARK_DRIVER_CONN_INFO_PATH": str(info)},
            process_group=0,  # Ctrl+C is for us
        )
        try:
            port, secret = _address(process, info)
            with environment({"PYSPARK_GATEWAY_PORT": port, "PYSPARK_GATEWAY_SECRET": secret}):
                gateway: Any = launch_gateway()  # type: ignore[no-untyped-call]
        except BaseException:
            process.kill()
            process.communicate()  # waits, and closes its input
            raise
    gateway.proc = process
    return gateway


def _address(process: "subprocess.Popen[bytes]", info: Path) -> tuple[str, str]:
    """Return the port and the secret that Java says, in one step, when it is there."""
    while not info.exists():
        if process.poll() is not None:
            raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})
        time.sleep(LOOK_EVERY_S)
    with info.open("rb") as said:
        port = read_int(said)  # type: ignore[no-untyped-call]
        return str(port), UTF8Deserializer().loads(said)  # type: ignore[no-untyped-call]
