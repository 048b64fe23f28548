"""Memorising as a study."""

from widenet.memorise.settings import MemoriseSettings
from widenet.study.study import Study

MEMORISE = Study(
    name="memorise",
    summary="Fit a mildly overparametrised network to every row of DATA, and certify it.",
    settings=MemoriseSettings,
    runner="widenet.memorise.run:run_memorise",
    report="widenet.report.memorise",
    details="The folder it writes is checked by `widenet verify`. A run that was killed goes on where it was "
    "when the same command is given again. Exit code 1: not every label was reproduced, so there is no "
    "certificate.",
    resumes=True,
)
