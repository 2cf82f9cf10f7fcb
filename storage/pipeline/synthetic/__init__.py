"""Large data sets with planted faults: authors, messages, and the time each arrived where.

Nothing here needs Spark. All of it follows from the seed.
"""
