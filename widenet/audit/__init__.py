"""Audit: a data set to everything that can be said of it before training."""

from widenet.audit.result import AuditResult
from widenet.audit.run import AuditSettings, run_audit
from widenet.audit.train import TrainSettings

__all__ = ["AuditResult", "AuditSettings", "TrainSettings", "run_audit"]
