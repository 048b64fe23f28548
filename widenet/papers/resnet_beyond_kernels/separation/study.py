"""The separation as a study."""

from widenet.papers.resnet_beyond_kernels.separation.settings import SeparationSettings
from widenet.study.study import Study

SEPARATION = Study(
    name="separation",
    summary="What a ResNet learns and no kernel does: error against samples, with the kernels' bound.",
    settings=SeparationSettings,
    runner="widenet.papers.resnet_beyond_kernels.separation.run:run_separation",
    report="widenet.report.separation",
    reads_data=False,
    resumes=True,
)
