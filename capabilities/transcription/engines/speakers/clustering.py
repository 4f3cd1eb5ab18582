"""Clustering: which windows of a recording are one voice.

Ward's linkage separates voices where average linkage failed (one voice of telephone prompts became seven). It needs a
matrix of all pairs, so that it sees an even sample of a long recording; the rest go to the nearest voice."""

import numpy as np
from numpy.typing import NDArray

from capabilities.transcription.engines.speakers.weights import Floats

#: Most windows that are linked: their distances take 16 MB.
SAMPLE = 2_000
#: Rounds in which voices are averaged anew from the windows nearest to them.
ROUNDS = 5


def voices_of(vectors: Floats, count: int) -> Floats:
    """Return the mean voices of windows, at most `count`, as unit vectors: shape (voices, 256)."""
    sample = vectors[np.linspace(0, len(vectors) - 1, min(len(vectors), SAMPLE)).astype(int)]
    labels = _linked(sample, count)
    voices = _means(sample, labels)
    for _ in range(ROUNDS):
        voices = _means(vectors, (vectors @ voices.T).argmax(axis=1))
    return voices


def _linked(vectors: Floats, count: int) -> NDArray[np.int64]:
    from scipy.cluster.hierarchy import fcluster, linkage  # a third of a second

    if len(vectors) <= count:
        return np.arange(len(vectors))
    return np.asarray(fcluster(linkage(vectors, "ward"), count, "maxclust"), np.int64)


def _means(vectors: Floats, labels: NDArray[np.int64]) -> Floats:
    found = np.stack([vectors[labels == label].mean(axis=0) for label in np.unique(labels)])
    return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9), np.float32)


def best_path(scores: Floats, *, stays: float) -> NDArray[np.int64]:
    """Return the voice of each window: the path of the greatest sum of scores (windows, voices), in which each change
    of voices costs `stays` (Viterbi)."""
    totals, came_from = scores[0].copy(), np.zeros(scores.shape, np.int64)
    for place, score in enumerate(scores[1:], start=1):
        best = int(totals.argmax())
        changes = totals < totals[best] - stays
        came_from[place] = np.where(changes, best, np.arange(len(totals)))
        totals = np.where(changes, totals[best] - stays, totals) + score
    path = [int(totals.argmax())]
    for place in range(len(scores) - 1, 0, -1):
        path.append(int(came_from[place, path[-1]]))
    return np.array(path[::-1], np.int64)
