"""Clustering: groups as scipy's Ward makes them, and paths that prefer to stay."""

import numpy as np

from capabilities.transcription.engines.speakers.clustering import best_path, groupings, voices_of


def partition(labels: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


def test_groups_are_those_of_scipys_ward() -> None:
    from scipy.cluster.hierarchy import fcluster, linkage  # takes a second, so not while tests are collected

    random = np.random.default_rng(0)
    vectors = random.normal(size=(120, 16)).astype(np.float32)
    for count, labels in zip(range(40, 0, -1), groupings(vectors, 40), strict=True):
        expected = fcluster(linkage(vectors, "ward"), count, "maxclust")
        assert partition(labels) == partition(expected)


def voice(seed: int, windows: int) -> np.ndarray:
    """Return windows of one made-up voice: vectors around one direction."""
    random = np.random.default_rng(seed)
    vectors = random.normal(size=256) * 3 + random.normal(size=(windows, 256)) * 0.5
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_different_voices_are_counted_and_one_voice_is_never_several() -> None:
    three = np.concatenate([voice(seed, 30 + seed) for seed in (1, 2, 3)])
    assert len(voices_of(three, None)) == len(voices_of(three, 3)) == 3
    assert len(voices_of(voice(1, 60), None)) == len(voices_of(voice(1, 60), 4)) == 1


def test_a_path_changes_only_where_that_is_worth_it() -> None:
    scores = np.array([[1, 0], [0.9, 1], [1, 0], [0, 1], [0, 1]], np.float32)
    assert best_path(scores, stays=0.3).tolist() == [0, 0, 0, 1, 1]
    assert best_path(scores, stays=0.0).tolist() == [0, 1, 0, 1, 1]
