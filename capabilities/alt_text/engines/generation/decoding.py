"""Decoding: texts that a model writes token by token, without repetition, each with its confidence."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workers.engines import Stopped

#: So many tokens in a row never come again; and the penalty that makes written tokens less likely to come again.
NO_REPEAT, PENALTY = 3, 1.1


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text as a model wrote it.

    `confidence` is the geometric mean of its tokens' probabilities; `is_ended`: the model ended it, not the limit.
    """

    text: str
    confidence: float
    is_ended: bool


def generate(
    decoder: Any,
    stop: Callable[[], bool],
    *,
    decode: Callable[[Any], str],
    ends: set[int],
    most: Sequence[int],
    **inputs: Any,
) -> list[Decoded]:
    """Return the text of each row, decoded greedily. Raises Stopped.

    `ends` are the tokens that end a text, `most` is the limit of tokens of each row, `inputs` go to the decoder.
    """
    if stop():
        raise Stopped
    output = decoder.generate(
        **inputs,
        max_new_tokens=max(most),
        do_sample=False,
        num_beams=1,
        return_dict_in_generate=True,
        output_scores=True,
        logits_processor=_repetition_filter(inputs["input_ids"].shape[1]),
        stopping_criteria=_stopping_criteria(stop),
    )
    scores = decoder.compute_transition_scores(output.sequences, output.scores, normalize_logits=True)
    rows = output.sequences[:, -scores.shape[1] :]
    return [
        decode_row(tokens[:count], row[:count], decode, ends)
        for tokens, row, count in zip(rows, scores.float(), most, strict=True)
    ]


def decode_row(tokens: Any, log_probabilities: Any, decode: Callable[[Any], str], ends: set[int]) -> Decoded:
    """Return the text of a row up to its end token; what follows is padding."""
    length = next((place for place, token in enumerate(tokens.tolist()) if token in ends), len(tokens))
    if length == 0:
        return Decoded("", 0.0, True)
    confidence = log_probabilities[:length].mean().exp().item()
    return Decoded(decode(tokens[:length]), min(max(confidence, 0.0), 1.0), length < len(tokens))


def _stopping_criteria(stop: Callable[[], bool]) -> Any:
    from transformers import StoppingCriteria, StoppingCriteriaList

    class AskStop(StoppingCriteria):
        def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
            if stop():
                raise Stopped
            return input_ids.new_zeros(input_ids.shape[0], dtype=bool)

    return StoppingCriteriaList([AskStop()])


def _repetition_filter(prompt: int) -> Any:
    """Return logits processors against repetition; they skip the `prompt` first tokens, most of which are the image."""
    from transformers import (
        LogitsProcessor,
        LogitsProcessorList,
        NoRepeatNGramLogitsProcessor,
        RepetitionPenaltyLogitsProcessor,
    )

    processors = [NoRepeatNGramLogitsProcessor(NO_REPEAT), RepetitionPenaltyLogitsProcessor(PENALTY)]

    class RepetitionFilter(LogitsProcessor):
        def __call__(self, input_ids: Any, scores: Any) -> Any:
            written = input_ids[:, prompt:]
            for processor in processors if written.shape[1] else ():
                scores = processor(written, scores)
            return scores

    return LogitsProcessorList([RepetitionFilter()])


class ImageFeatureCache:
    """A context in which a model's `get_image_features` is computed once for the same pictures.

    Vision models of transformers have that method; its parameters and results differ. A model without it computes the
    features again for each text."""

    def __init__(self, model: Any) -> None:
        self._kept: tuple[dict[str, Any], Any] | None = None
        self._compute = getattr(model, "get_image_features", None)
        if self._compute is not None:
            # generate() reads the names of its parameters, so the wrapper must have them too.
            model.get_image_features = functools.wraps(self._compute)(
                lambda *given, **named: self._features(*given, **named)
            )

    def __enter__(self) -> None:
        self._kept = None

    def __exit__(self, *_: object) -> None:
        self._kept = None

    def _features(self, *positional: Any, **named: Any) -> Any:
        given = {**{str(place): value for place, value in enumerate(positional)}, **named}
        if self._kept is None or not _are_same(self._kept[0], given):
            assert self._compute is not None  # noqa: S101 - this method stands in for it
            self._kept = given, self._compute(*positional, **named)
        return self._kept[1]


def _are_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(_is_same(value, other[name]) for name, value in one.items())


def _is_same(one: Any, other: Any) -> bool:
    import torch

    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.shape == other.shape and torch.equal(one, other)
    return bool(one is other or (not isinstance(one, torch.Tensor) and one == other))
