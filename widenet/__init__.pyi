"""The public names and their types; `__init__.py` imports each of them from here when it is first used."""

from widenet.audit.door import audit as audit
from widenet.audit.result import AuditResult as AuditResult
from widenet.audit.run import run_audit as run_audit
from widenet.audit.settings import AuditSettings as AuditSettings
from widenet.base.errors import (
    InputError as InputError,
    NotConvergedError as NotConvergedError,
    WidenetError as WidenetError,
)
from widenet.base.progress import Progress as Progress
from widenet.compare.door import compare as compare
from widenet.compare.result import CompareResult as CompareResult
from widenet.compare.run import run_compare as run_compare
from widenet.compare.settings import CompareSettings as CompareSettings
from widenet.data.dataset import Dataset as Dataset
from widenet.data.loading import held_out as held_out, load as load
from widenet.data.noise import flip_labels as flip_labels
from widenet.inside.result import InsideResult as InsideResult
from widenet.inside.run import run_inside as run_inside
from widenet.inside.settings import InsideSettings as InsideSettings
from widenet.kernels.layers import Dense as Dense, Erf as Erf, Relu as Relu, Residual as Residual
from widenet.kernels.matrix import cross_matrix as cross_matrix, gram_matrix as gram_matrix
from widenet.kernels.names import kernel_by_name as kernel_by_name
from widenet.kernels.networks import Serial as Serial
from widenet.memorise.checker.verify import VerifyResult as VerifyResult, verify as verify
from widenet.memorise.door import memorise as memorise
from widenet.memorise.result import MemoriseResult as MemoriseResult
from widenet.memorise.run import run_memorise as run_memorise
from widenet.memorise.settings import MemoriseSettings as MemoriseSettings
from widenet.networks.initialise import Initialisation as Initialisation
from widenet.networks.names import network_by_name as network_by_name
from widenet.papers.figures import figure_by_name as figure_by_name
from widenet.papers.resnet_beyond_kernels.separation.result import SeparationResult as SeparationResult
from widenet.papers.resnet_beyond_kernels.separation.run import run_separation as run_separation
from widenet.papers.resnet_beyond_kernels.separation.settings import SeparationSettings as SeparationSettings
from widenet.papers.result import FigureResult as FigureResult
from widenet.papers.run import run_figure as run_figure
from widenet.predict.curve import (
    descent_distance as descent_distance,
    descent_loss as descent_loss,
    steps_until as steps_until,
)
from widenet.predict.learning_curve import predict_learning_curve as predict_learning_curve
from widenet.predict.loo import leave_one_out as leave_one_out
from widenet.runs.address import ClusterAddress as ClusterAddress
from widenet.runs.store import Store as Store
from widenet.spectrum.brackets import inverse_bracket as inverse_bracket
from widenet.spectrum.gram import DenseGram as DenseGram, TiledGram as TiledGram
from widenet.spectrum.lanczos import gauss_measure as gauss_measure, lanczos as lanczos
from widenet.theory.names import entry_by_name as entry_by_name, quantity_groups as quantity_groups
from widenet.training.run import TrainingRun as TrainingRun
from widenet.training.settings import TrainingSettings as TrainingSettings
from widenet.training.sweeps import sweep as sweep, train as train

__version__: str
