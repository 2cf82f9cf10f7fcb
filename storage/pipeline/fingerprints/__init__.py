"""The fingerprints and diff jobs: compare histories without reading all of them."""
