"""The report job: one HTML page and a summary for the terminal from the results."""
