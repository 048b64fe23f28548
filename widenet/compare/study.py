"""The comparison as a study."""

from widenet.compare.settings import CompareSettings
from widenet.study.study import Study

COMPARE = Study(
    name="compare",
    summary="Compare networks, kernels and baselines on DATA by nested cross-validation.",
    details="Exit code 3: some fits failed.",
    settings=CompareSettings,
    runner="widenet.compare.run:run_compare",
    report="widenet.report.compare",
    resumes=True,
    distributes=True,
)
