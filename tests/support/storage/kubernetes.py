"""A Kubernetes API server of a few verbs, whose only node runs each pod as a process on loopback.

It knows what Spark's scheduler asks for: pods are made, listed, watched and deleted; other kinds
are taken and forgotten. No container is made: the Java and the Python of the tests stand for it.
"""

import json
import os
import queue
import subprocess
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pyspark

from storage.pipeline.spark.launcher import OPENED

LOOPBACK: Final = "127.0.0.1"
BACKEND: Final = "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend"

BORN: Final = "2026-01-01T00:00:00Z"
"""Time at which every pod was made; nothing depends on it."""

END_WITHIN_S: Final = 30.0
LOOK_EVERY_S: Final = 0.5
"""For a watcher to find out that the server ends."""


class Node:
    """The pods: what Spark said of each, and the process that runs it."""

    def __init__(self, scratch: Path) -> None:
        self.images: list[str] = []
        self._scratch = scratch
        self._pods: dict[str, dict[str, Any]] = {}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._watchers: list[queue.Queue[dict[str, Any]]] = []
        self._version = 1
        self._lock = threading.RLock()

    @property
    def pids(self) -> set[int]:
        """The processes of all pods."""
        with self._lock:
            return {process.pid for process in self._processes.values()}

    @property
    def log(self) -> str:
        """All that the processes of pods have said."""
        return "".join(path.read_text() for path in sorted(self._scratch.glob("*/log")))

    def listed(self, selector: str) -> dict[str, Any]:
        """Return the pods that a selector of labels chooses."""
        wanted = dict(
            one.split("=") for one in selector.split(",") if "=" in one and "!" not in one
        )
        with self._lock:
            pods = [
                pod
                for pod in self._pods.values()
                if wanted.items() <= pod["metadata"].get("labels", {}).items()
            ]
            version = {"resourceVersion": str(self._version)}
            return {"kind": "PodList", "apiVersion": "v1", "metadata": version, "items": pods}

    def pod(self, name: str) -> dict[str, Any] | None:
        """Return a pod."""
        with self._lock:
            return self._pods.get(name)

    def begin(self, pod: dict[str, Any]) -> None:
        """Start a pod."""
        name = pod["metadata"]["name"]
        [container] = pod["spec"]["containers"]
        with self._lock:
            self.images.append(container["image"])
            pod["status"] = {"phase": "Pending"}
            self._pods[name] = pod
            self._tell("ADDED", pod)
            self._processes[name] = process = self._process(name, container)
            pod["status"] = status(container["name"], "Running", {"running": {}})
            self._tell("MODIFIED", pod)
        threading.Thread(target=self._follow, args=(pod, process), daemon=True).start()

    def delete(self, name: str) -> None:
        """End a pod."""
        with self._lock:
            pod, process = self._pods.pop(name), self._processes[name]
            self._tell("DELETED", pod)
        process.terminate()

    def end(self) -> None:
        """End all processes."""
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            try:
                process.wait(END_WITHIN_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    @contextmanager
    def watched(self) -> Iterator["queue.Queue[dict[str, Any]]"]:
        """Yield where all that happens to pods is told."""
        told: queue.Queue[dict[str, Any]] = queue.Queue()
        with self._lock:
            self._watchers.append(told)
        try:
            yield told
        finally:
            with self._lock:
                self._watchers.remove(told)

    def _tell(self, kind: str, pod: Mapping[str, Any]) -> None:
        self._version += 1
        told = json.loads(json.dumps({"type": kind, "object": pod}))
        told["object"]["metadata"]["resourceVersion"] = str(self._version)
        for watcher in self._watchers:
            watcher.put(told)

    def _process(self, name: str, container: Mapping[str, Any]) -> "subprocess.Popen[bytes]":
        """Do what the image's entry point does: start Java by the variables of the container."""
        said = {one["name"]: one.get("value", LOOPBACK) for one in container.get("env", [])}
        directory = self._scratch / name
        directory.mkdir(parents=True)
        options = [
            value for key, value in sorted(said.items()) if key.startswith("SPARK_JAVA_OPT_")
        ]
        arguments = {
            "--driver-url": said["SPARK_DRIVER_URL"],
            "--executor-id": said["SPARK_EXECUTOR_ID"],
            "--cores": said["SPARK_EXECUTOR_CORES"],
            "--app-id": said["SPARK_APPLICATION_ID"],
            "--hostname": LOOPBACK,
            "--resourceProfileId": said.get("SPARK_RESOURCE_PROFILE_ID", "0"),
            "--podName": name,
        }
        command = [
            *("java", "-XX:+IgnoreUnrecognizedVMOptions", "-XX:+UseSerialGC"),
            *(f"--add-opens={package}=ALL-UNNAMED" for package in OPENED),
            *options,
            f"-Xmx{said['SPARK_EXECUTOR_MEMORY']}",
            *("-cp", str(Path(pyspark.__file__).parent / "jars" / "*"), BACKEND),
            *(word for pair in arguments.items() for word in pair),
        ]
        variables = {
            **os.environ,
            **{key: value for key, value in said.items() if key != "SPARK_CONF_DIR"},
            "SPARK_LOCAL_DIRS": str(directory),
            "SPARK_LOCAL_IP": LOOPBACK,
        }
        with (directory / "log").open("wb") as log:
            return subprocess.Popen(
                command, cwd=directory, env=variables, stdout=log, stderr=subprocess.STDOUT
            )

    def _follow(self, pod: dict[str, Any], process: "subprocess.Popen[bytes]") -> None:
        code = process.wait()
        name = pod["spec"]["containers"][0]["name"]
        with self._lock:
            if pod["metadata"]["name"] in self._pods:
                phase = "Failed" if code else "Succeeded"
                pod["status"] = status(name, phase, {"terminated": {"exitCode": code}})
                self._tell("MODIFIED", pod)


def status(container: str, phase: str, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the status of a pod with one container."""
    one = {"name": container, "ready": phase == "Running", "restartCount": 0, "state": state}
    return {
        "phase": phase,
        "podIP": LOOPBACK,
        "containerStatuses": [{**one, "image": "tests", "imageID": "tests"}],
    }


class Server(ThreadingHTTPServer):
    """The API server of a node."""

    daemon_threads = True

    def __init__(self, node: Node) -> None:
        super().__init__((LOOPBACK, 0), Verbs)
        self.node = node
        self.over = threading.Event()

    @property
    def url(self) -> str:
        """The master to run jobs on."""
        return f"k8s://http://{LOOPBACK}:{self.server_address[1]}"


class Verbs(BaseHTTPRequestHandler):
    """Handler of the requests that Spark makes."""

    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002  # as in Python
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer for one pod, for a list, or go on telling what happens."""
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        if self.headers.get("Upgrade"):  # a watch without web sockets is asked for then
            self.close_connection = True
            self._answer({"kind": "Status", "status": "Failure", "code": 503}, 503)
        elif path.endswith("/pods") and "watch" in query:
            self._watch()
        elif path.endswith("/pods"):
            self._answer(self.server.node.listed(query.get("labelSelector", [""])[0]))
        elif "/pods/" in path:
            if (pod := self.server.node.pod(path.rpartition("/")[2])) is not None:
                self._answer(pod)
            else:
                self._answer({"kind": "Status", "status": "Failure", "code": 404}, 404)
        elif path == "/version":
            self._answer({"major": "1", "minor": "33", "gitVersion": "v1.33.0"})
        else:
            nothing = {"resourceVersion": "1"}
            self._answer({"kind": "List", "apiVersion": "v1", "metadata": nothing, "items": []})

    def do_POST(self) -> None:
        """Take what is made; a pod begins."""
        made = self._body()
        metadata = made.setdefault("metadata", {})
        metadata |= {"uid": str(uuid.uuid4()), "creationTimestamp": BORN, "namespace": "default"}
        if urlsplit(self.path).path.endswith("/pods"):
            self.server.node.begin(made)
        self._answer(made, 201)

    def do_PATCH(self) -> None:
        """Take what changes, which nothing depends on."""
        self._answer(self._body())

    do_PUT = do_PATCH  # noqa: N815  # as the library calls them

    def do_DELETE(self) -> None:
        """End a pod, or all that a selector chooses."""
        self._body()
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        name = path.rpartition("/")[2]
        chosen = self.server.node.listed(query.get("labelSelector", [""])[0])["items"]
        names = [pod["metadata"]["name"] for pod in chosen]
        for one in names if path.endswith("/pods") else [name]:
            with suppress(KeyError):  # something of another kind, or gone already
                self.server.node.delete(one)
        self._answer({"kind": "Status", "apiVersion": "v1", "status": "Success"})

    def _watch(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with self.server.node.watched() as told, suppress(OSError):
            while not self.server.over.is_set():
                with suppress(queue.Empty):
                    line = json.dumps(told.get(timeout=LOOK_EVERY_S)).encode() + b"\n"
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                    self.wfile.flush()

    def _body(self) -> dict[str, Any]:
        length = int(self.headers.get("Content-Length") or 0)
        found: dict[str, Any] = json.loads(self.rfile.read(length) or b"{}")
        return found

    def _answer(self, said: Mapping[str, Any], code: int = 200) -> None:
        content = json.dumps(said).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def kubernetes(scratch: Path) -> Iterator[Server]:
    """Run a server and its node; at the end, no pod is left."""
    node = Node(scratch)
    with Server(node) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            node.end()
            thread.join()
