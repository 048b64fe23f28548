"""The separation as a study."""

from widenet.papers.resnet_beyond_kernels.separation.settings import SeparationSettings
from widenet.study.study import Study

SEPARATION = Study(
    name="separation",
    summary="A ResNet against kernels: error by samples, and a bound for kernels fixed before the labels.",
    settings=SeparationSettings,
    runner="widenet.papers.resnet_beyond_kernels.separation.run:run_separation",
    report="widenet.report.separation",
    reads_data=False,
    resumes=True,
)
