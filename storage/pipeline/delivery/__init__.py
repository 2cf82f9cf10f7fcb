"""The delivery job: latency, repairs, missing messages and false filter answers."""
