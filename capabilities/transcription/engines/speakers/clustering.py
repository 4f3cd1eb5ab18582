"""Clustering: which windows of a recording are one voice.

Ward's linkage separates voices where average linkage failed (one voice of telephone prompts became seven). It needs a
matrix of all pairs, so that it sees an even sample of a long recording; the rest go to the nearest voice."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from capabilities.transcription.engines.speakers.encoder import unit
from capabilities.transcription.engines.speakers.weights import Floats

#: Most windows that are linked: their distances take 8 MB, and their merges a second.
SAMPLE = 1_000
#: Likeness (cosine) of the two most alike voices. Voices of two people were below 0.9 in nearly all conversations; one
#: person's windows in two groups were above 0.94 in all but a few.
DIFFERENT, SAME = 0.9, 0.94
#: Most people that are counted.
MOST_VOICES = 9
#: Rounds in which voices are averaged anew from the windows nearest to them.
ROUNDS = 5


def voices_of(vectors: Floats, count: int | None) -> Floats:
    """Return the mean voices of windows as unit vectors, shape (voices, 256).

    There are `count` of them, or fewer if two would be the same voice; None: as many as are different."""
    sample = vectors[np.linspace(0, len(vectors) - 1, min(len(vectors), SAMPLE)).astype(int)]
    limit = DIFFERENT if count is None else SAME
    for labels in groupings(sample, min(count or MOST_VOICES, len(sample))):
        voices = _means(sample, labels)
        for _ in range(ROUNDS):
            voices = _means(vectors, (vectors @ voices.T).argmax(axis=1))
        if len(voices) == 1 or np.triu(voices @ voices.T, 1).max() < limit:
            break
    return voices


def groupings(vectors: Floats, most: int) -> Iterator[NDArray[np.int64]]:
    """Yield a group for each vector: of `most` groups, then of one less, down to one.

    Ward's linkage: the two groups are merged that lose least."""
    total = len(vectors)
    means, sizes, labels = vectors.astype(np.float64), np.ones(total), np.arange(total)
    losses = np.stack([_losses(means, sizes, place) for place in range(total)])
    nearest = losses.argmin(axis=1)
    least = losses[labels, nearest]
    for groups in range(total, 1, -1):
        if groups <= most:
            yield labels.copy()
        kept = int(least.argmin())
        gone = int(nearest[kept])
        means[kept] += (means[gone] - means[kept]) * (sizes[gone] / (sizes[kept] + sizes[gone]))
        sizes[kept] += sizes[gone]
        sizes[gone] = 0
        labels[labels == gone] = kept
        row = _losses(means, sizes, kept)
        losses[kept] = losses[:, kept] = row
        losses[gone] = losses[:, gone] = least[gone] = np.inf
        # A group whose nearest has changed looks again; the merged group may have come nearer to others.
        stale = np.flatnonzero((sizes > 0) & ((nearest == kept) | (nearest == gone) | (np.arange(total) == kept)))
        nearest[stale] = losses[stale].argmin(axis=1)
        least[stale] = losses[stale, nearest[stale]]
        closer = row < least
        nearest[closer], least[closer] = kept, row[closer]
    yield labels


def _losses(means: NDArray[np.float64], sizes: NDArray[np.float64], place: int) -> NDArray[np.float64]:
    """Return what a merge with each other group would add to the variance within groups; infinite for none."""
    with np.errstate(invalid="ignore"):
        weights = sizes * sizes[place] / (sizes + sizes[place])
    losses: NDArray[np.float64] = weights * np.square(means - means[place]).sum(axis=1)
    losses[sizes == 0] = losses[place] = np.inf
    return losses


def _means(vectors: Floats, labels: NDArray[np.int64]) -> Floats:
    return unit(np.stack([vectors[labels == label].mean(axis=0) for label in np.unique(labels)]))


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
