"""Memorising as a study."""

from widenet.memorise.settings import MemoriseSettings
from widenet.study.study import Study

MEMORISE = Study(
    name="memorise",
    summary="Fit a mildly overparametrised network to every row of DATA, and certify it.",
    settings=MemoriseSettings,
    runner="widenet.memorise.run:run_memorise",
    report="widenet.report.memorise",
    details="`widenet verify` checks the folder it writes. If a run is killed, the same command resumes it. "
    "Exit code 1: not every label was reproduced, so there is no certificate.",
    resumes=True,
    signs=True,
)
