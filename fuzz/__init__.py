"""Seeded, bounded searches for input that breaks a promise; each module has `run(count, seed)`."""
