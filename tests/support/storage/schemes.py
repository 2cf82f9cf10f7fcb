"""Schemes bound to Hadoop's local file system: what is tried over them is tried over any store."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from storage.pipeline.places.place import place_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VIEW: Final = "org.apache.hadoop.fs.viewfs.ViewFileSystemOverloadScheme"
LOCAL: Final = "org.apache.hadoop.fs.LocalFileSystem"

SETTINGS: Final[Mapping[str, str]] = {
    "fs.demo.impl": VIEW,
    "fs.viewfs.overload.scheme.target.demo.impl": LOCAL,
    "fs.viewfs.mounttable.mounted.linkFallback": "file:///",
}

BASES: Final = {"local": "", "demo": "demo://", "viewfs": "viewfs://mounted"}
"""The beginning of the URI of a local path, by scheme."""


def bind(spark: "SparkSession") -> None:
    """Let a session know the schemes."""
    java: Any = spark.sparkContext._jsc
    for key, value in SETTINGS.items():
        java.hadoopConfiguration().set(key, value)


def over(scheme: str, path: Path) -> Path:
    """Return a local path as it is called over a scheme."""
    return place_of(f"{BASES[scheme]}{path}")
