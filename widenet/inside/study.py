"""Whether a network is inside the theorems, as a study."""

from widenet.inside.settings import InsideSettings
from widenet.study.study import Study

INSIDE = Study(
    name="inside",
    summary="Is my network inside the theorems, and if not, by what factor does it fall short?",
    settings=InsideSettings,
    runner="widenet.inside.run:run_inside",
    report="widenet.report.inside",
    data_option=True,
    writes=False,
)
