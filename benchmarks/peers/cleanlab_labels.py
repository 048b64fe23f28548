"""Score labels with cleanlab: `cleanlab_labels.py FOLDER`.

Each FOLDER/problems/NAME.npz holds X and labels; FOLDER/scores/NAME.npz gets the scores, higher for the more
suspicious row, and the seconds. What is there already is left as it is, so that a run can be resumed.

Probabilities come from three classifiers, each cross-validated in five folds; of each, both of cleanlab's
usual scores are written.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np
from cleanlab.rank import get_label_quality_scores
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

METHODS = ("self_confidence", "normalized_margin")
CLASSIFIERS = {
    "forest": RandomForestClassifier(random_state=0, n_jobs=1),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "boosting": HistGradientBoostingClassifier(random_state=0),
}


def score(X: np.ndarray, labels: np.ndarray) -> dict[str, np.ndarray]:
    """Of each classifier its scores, shape (methods, n), and the seconds they took."""
    result = {}
    for name, classifier in CLASSIFIERS.items():
        start = time.perf_counter()
        probabilities = cross_val_predict(classifier, X, labels, cv=5, method="predict_proba")
        scores = [-get_label_quality_scores(labels, probabilities, method=method) for method in METHODS]
        result[name] = np.stack(scores)
        result[f"{name}_seconds"] = np.array(time.perf_counter() - start)
    return result


def main(folder: Path) -> None:
    """Score every problem that has no scores yet."""
    (folder / "scores").mkdir(exist_ok=True)
    for problem in sorted((folder / "problems").glob("*.npz")):
        destination = folder / "scores" / problem.name
        if destination.exists():
            continue
        with np.load(problem, allow_pickle=False) as data:
            scores = score(data["X"], data["labels"])
        unfinished = destination.with_suffix(".part.npz")
        np.savez(unfinished, **scores)
        unfinished.rename(destination)


if __name__ == "__main__":
    warnings.filterwarnings("ignore", message="The least populated class")  # classes that lost rows to flips
    main(Path(sys.argv[1]))
