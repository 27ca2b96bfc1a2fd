"""TF-IDF with logistic regression, the bag of words that readers are compared with.

scikit-learn is not among the pins, and this is all that is needed of it: counts as 1 + log n,
times log((1 + documents) / (1 + documents with the word)) + 1, each document scaled to length 1;
an L2 penalty; L-BFGS.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from scipy import sparse
from scipy.optimize import minimize


class Bag:
    """A fitted bag of words: `weights`, a number for each of its `words`.

    Args:
        documents: each a list of words.
        labels: 0 or 1 for each.
        strength: how much the data counts against the penalty (C).
    """

    def __init__(self, documents, labels, strength: float):
        counts = Counter(word for document in documents for word in set(document))
        self.words = {
            word: n for n, word in enumerate(sorted(w for w, c in counts.items() if c > 1))
        }
        seen = np.array([counts[word] for word in self.words])
        self.rarity = np.log((1 + len(documents)) / (1 + seen)) + 1
        x, sign = self.features(documents), 2.0 * np.asarray(labels) - 1

        def objective(w):
            margin = sign * (x @ w)
            slope = -sign / (1 + np.exp(np.minimum(margin, 500)))
            value = w @ w / 2 + strength * np.logaddexp(0, -margin).sum()
            return value, w + strength * (x.T @ slope)

        self.weights = minimize(objective, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x

    def features(self, documents) -> sparse.csr_matrix:
        """TF-IDF rows of length 1, a column for each word."""
        rows, columns, values = [], [], []
        for n, document in enumerate(documents):
            for word, count in Counter(w for w in document if w in self.words).items():
                rows.append(n)
                columns.append(self.words[word])
                values.append((1 + math.log(count)) * self.rarity[self.words[word]])
        x = sparse.csr_matrix((values, (rows, columns)), (len(documents), len(self.words)))
        length = np.sqrt(np.asarray(x.multiply(x).sum(axis=1))[:, 0])
        return sparse.diags(1 / np.maximum(length, 1e-9)) @ x

    def logits(self, documents) -> np.ndarray:
        """Above 0 for label 1."""
        return self.features(documents) @ self.weights
