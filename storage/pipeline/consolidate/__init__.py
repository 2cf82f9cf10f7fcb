"""The consolidate job: merges the exports of many nodes into one verified history."""
