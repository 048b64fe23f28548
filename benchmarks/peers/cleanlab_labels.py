"""Score labels with cleanlab: `cleanlab_labels.py in.npz out.npz`.

The first holds X and labels; the second gets scores and seconds. Probabilities come from a random forest,
cross-validated; both of cleanlab's usual scores are written, higher for the more suspicious row.
"""

import sys
import time

import numpy as np
from cleanlab.rank import get_label_quality_scores
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

METHODS = ("self_confidence", "normalized_margin")


def main(source: str, destination: str) -> None:
    data = np.load(source, allow_pickle=False)
    start = time.perf_counter()
    forest = RandomForestClassifier(random_state=0, n_jobs=-1)
    probabilities = cross_val_predict(forest, data["X"], data["labels"], cv=5, method="predict_proba")
    scores = {
        method: -get_label_quality_scores(data["labels"], probabilities, method=method) for method in METHODS
    }
    np.savez(destination, seconds=time.perf_counter() - start, **scores)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
