"""The data pipeline: merges many nodes' exports into one history and reports what went wrong.

Nothing else imports this but the command line, when it is asked to. Rules:
1. Jobs are functions over DataFrames, of built-in functions on rows; Python sees rows only where
   signatures are checked, by Arrow batches (`verify`).
2. A job writes into a run directory of its own and publishes it by replacing one small file
   (`runs`): whatever is interrupted, the last good result stays.
3. A DataFrame's columns and their types stand in the docstring of what makes it.
"""
