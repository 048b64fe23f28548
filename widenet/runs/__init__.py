"""Trials that are never lost: run in groups, and kept in a store that survives being killed."""

from widenet.runs.code import code_version
from widenet.runs.store import Store
from widenet.runs.trial import Failure, Trial, TrialResult, data_hash
from widenet.runs.trials import run_trials

__all__ = ["Failure", "Store", "Trial", "TrialResult", "code_version", "data_hash", "run_trials"]
