"""Archives of a profile: exporting history and protocol log to Parquet or JSON, and importing."""
