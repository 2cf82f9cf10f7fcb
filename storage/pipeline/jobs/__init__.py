"""One module a job: `run(work)` reads what it needs, writes its tables, and returns its figures."""
