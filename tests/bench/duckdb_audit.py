"""The questions of consolidate and audit, put to DuckDB: what Spark is compared with.

Prints how many findings there are of each kind. Python's part of the work for Spark is left out:
nobody checks signatures here, nor that columns are what the header says; so rows that are false in
another way than by their id are believed, and may be answered differently.
"""

import json
import sys
from pathlib import Path
from typing import Final

import duckdb

MEMORY: Final = "2GB"
THREADS: Final = 2

PREPARE: Final = """
    CREATE TABLE variants AS
        SELECT DISTINCT channel, message_id, author, log, seq, lamport, parents, header,
            sha256(header) = lower(hex(message_id)) AS true_id
        FROM history;
    CREATE TABLE entries AS
        SELECT channel, message_id, author, log, seq, min(lamport) AS lamport,
            any_value(parents) AS parents
        FROM variants WHERE true_id GROUP BY ALL;
    CREATE TABLE places AS
        SELECT channel, message_id,
            row_number() OVER (PARTITION BY channel ORDER BY lamport, message_id) AS place
        FROM entries;
    CREATE TABLE holders AS
        SELECT DISTINCT h.channel, h.node, h.message_id, place
        FROM history h JOIN places USING (channel, message_id);
    CREATE TABLE edges AS
        SELECT channel, message_id, lamport, unnest(parents) AS parent FROM entries;
    CREATE TABLE done AS
        SELECT run, boot, node, seq, channel, message_id, kind = 'lost' AS lost
        FROM log WHERE kind IN ('delivered', 'lost');
"""

QUESTIONS: Final = {
    "equivocations": """
        SELECT count(*) FROM (
            SELECT 1 FROM entries GROUP BY channel, author, log, seq HAVING count(*) > 1)""",
    "unknown_dependencies": """
        SELECT count(*) FROM edges e WHERE NOT EXISTS (
            SELECT 1 FROM entries p WHERE p.message_id = e.parent AND p.channel = e.channel)""",
    "causal_violations": """
        SELECT count(*) FROM edges e JOIN entries p
            ON p.message_id = e.parent AND p.channel = e.channel
        WHERE e.lamport <= p.lamport""",
    "missing": """
        WITH present AS (
            SELECT channel, node, min(place) AS first, max(place) AS last
            FROM holders GROUP BY ALL)
        SELECT count(*) FROM places p JOIN present n
            ON p.channel = n.channel AND p.place > n.first AND p.place < n.last
        WHERE NOT EXISTS (
            SELECT 1 FROM holders h WHERE h.node = n.node AND h.message_id = p.message_id)""",
    "trace_holes": """
        SELECT count(*) FROM (
            SELECT seq - lag(seq) OVER (PARTITION BY run, boot, node ORDER BY seq) AS step
            FROM log)
        WHERE step > 1""",
    "order_divergence": """
        SELECT count(*) FROM (
            SELECT DISTINCT l.node, l.channel, l.message_id, l.lamport FROM log l
            JOIN entries e USING (channel, message_id) WHERE l.lamport != e.lamport)""",
    "early_deliveries": """
        SELECT count(*) FROM done c
        JOIN edges e USING (channel, message_id)
        JOIN done p ON p.run = c.run AND p.boot = c.boot AND p.node = c.node
            AND p.channel = c.channel AND p.message_id = e.parent AND c.seq < p.seq
        WHERE NOT c.lost AND NOT p.lost AND NOT EXISTS (
            SELECT 1 FROM done g WHERE g.lost AND g.run = c.run AND g.node = c.node
            AND g.message_id = e.parent AND (g.boot, g.seq) < (c.boot, c.seq))""",
}


def audit(exports: Path, scratch: Path) -> dict[str, int]:
    """Return how many findings of each kind there are in an export."""
    scratch.mkdir()
    with duckdb.connect(str(scratch / "audit.duckdb")) as db:
        db.execute(f"SET memory_limit = '{MEMORY}'; SET threads = {THREADS}")
        db.execute(f"SET temp_directory = '{scratch}'")
        for table in ("history", "log"):
            # of all nodes, or of one each in a directory below
            files = exports / "**" / table / "*" / "*" / "*.parquet"
            db.execute(
                f"CREATE VIEW {table} AS "
                f"SELECT * FROM read_parquet('{files}', hive_partitioning = false)"
            )
        db.execute(PREPARE)
        found = {}
        for name, question in QUESTIONS.items():
            row = db.execute(question).fetchone()
            assert row is not None
            found[name] = int(row[0])
    return found


if __name__ == "__main__":
    print(json.dumps(audit(Path(sys.argv[1]), Path(sys.argv[2]))))
