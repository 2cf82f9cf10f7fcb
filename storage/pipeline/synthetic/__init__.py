"""Large data sets with planted faults of known truth: who, what they wrote, and who got it when.

Nothing here needs Spark. All of it follows from the seed.
"""
