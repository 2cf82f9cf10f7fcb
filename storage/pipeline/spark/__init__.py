"""Starting, watching and ending Spark: Java, sessions, clusters, executors, progress."""
