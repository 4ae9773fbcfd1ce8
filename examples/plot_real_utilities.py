"""Real-valued utilities: every patient against every other, without listing the pairs."""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from linrank import LinearRanker


def main() -> float:
    X, y = load_diabetes(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    for alpha in (1.0, 1e-2, 1e-4):
        ranker = LinearRanker(alpha=alpha).fit(X_train, y_train)
        print(f"alpha {alpha:7.0e}   held-out accuracy {ranker.score(X_test, y_test):.3f}   gap {ranker.gap_:.1e}")
    top = np.argsort(ranker.rank(X_test))[:5]
    print("first five patients:", top, "with progression", y_test[top])
    return ranker.score(X_test, y_test)


if __name__ == "__main__":
    main()
