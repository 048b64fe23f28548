"""Trials that are never lost: run in groups, and kept in a store that survives being killed."""

from widenet.runs.store import Store
from widenet.runs.trial import Failure, Result, Trial, code_version, data_hash
from widenet.runs.trials import run_trials

__all__ = ["Failure", "Result", "Store", "Trial", "code_version", "data_hash", "run_trials"]
