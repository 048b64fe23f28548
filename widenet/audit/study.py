"""The audit as a study."""

from widenet.audit.settings import AuditSettings
from widenet.study.study import Study

AUDIT = Study(
    name="audit",
    summary="Say what a wide network will make of DATA.",
    settings=AuditSettings,
    runner="widenet.audit.run:run_audit",
    report="widenet.report.audit",
    details="If a long audit is killed, the same command resumes it.",
    resumes=True,
    distributes=True,
    unit_rows=True,  # the theorems are about rows of norm 1, which those of most concept classes are not
)
