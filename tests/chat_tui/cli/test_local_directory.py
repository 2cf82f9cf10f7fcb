"""Commands that know this computer alone refuse an address, and make no directory of its name."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from chat_tui.cli import main


@pytest.mark.parametrize(
    "words",
    [
        ("sim", "--peers", "2", "--messages", "1", "--seeds", "1", "--export", "s3a://bucket/x"),
        ("export", "s3a://bucket/x"),
        ("import", "hdfs://host:9000/x"),
        ("export", "out", "--data-dir", "s3a://bucket/x"),
    ],
)
def test_an_address_is_one_sentence(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    result = CliRunner().invoke(main.cli, words)

    assert result.exit_code == 2
    assert "is an address, and this command knows directories of this computer" in result.output
    assert list(tmp_path.iterdir()) == []
