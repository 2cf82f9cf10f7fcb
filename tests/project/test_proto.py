import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCHEMAS = sorted(path.name for path in (ROOT / "proto").glob("*.proto"))


def test_there_are_schemas() -> None:
    assert len(SCHEMAS) == 6


@pytest.mark.slow
def test_generated_code_is_current(tmp_path: Path) -> None:
    out = [f"--python_out={tmp_path}", f"--pyi_out={tmp_path}"]
    sources = [f"proto/{name}" for name in SCHEMAS]

    subprocess.run(
        [sys.executable, "-m", "grpc_tools.protoc", "-I.", *out, *sources], cwd=ROOT, check=True
    )

    generated = sorted((tmp_path / "proto").iterdir())
    assert len(generated) == 2 * len(SCHEMAS)
    for path in generated:
        assert path.read_text() == (ROOT / "proto" / path.name).read_text(), "run `make proto`"
