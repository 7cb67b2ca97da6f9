"""Limits, secrets, redaction, paths and addresses: what stands between a run and the world."""
