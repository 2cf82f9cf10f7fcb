"""Results of the jobs: tables written beside the old ones, then published at once."""
