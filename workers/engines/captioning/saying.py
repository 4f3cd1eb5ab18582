"""Saying: what a decoder says, token by token: without repetition, to be stopped, and how sure it is of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workers.engines import Stopped

#: No three tokens come twice in the same order, and one that was said is a little less likely.
NO_REPEAT, PENALTY = 3, 1.1


@dataclass(frozen=True, slots=True)
class Said:
    """A text as a model wrote it, the geometric mean of its tokens' probabilities, and whether it came to an end."""

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
) -> list[Said]:
    """Return what a decoder says greedily, at most so many tokens a row. Raises Stopped; `inputs` go to generate()."""
    if stop():
        raise Stopped
    output = decoder.generate(
        **inputs,
        max_new_tokens=max(most),
        do_sample=False,
        num_beams=1,
        return_dict_in_generate=True,
        output_scores=True,
        logits_processor=_unrepeating(inputs["input_ids"].shape[1]),
        stopping_criteria=_asking(stop),
    )
    told = decoder.compute_transition_scores(output.sequences, output.scores, normalize_logits=True)
    rows = output.sequences[:, -told.shape[1] :]
    return [
        _said(tokens[:count], row[:count], decode, ends)
        for tokens, row, count in zip(rows, told.float(), most, strict=True)
    ]


def _asking(stop: Callable[[], bool]) -> Any:
    """Return what asks `stop` after each token."""
    from transformers import StoppingCriteria, StoppingCriteriaList

    class Asked(StoppingCriteria):
        def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
            if stop():
                raise Stopped
            return input_ids.new_zeros(input_ids.shape[0], dtype=bool)

    return StoppingCriteriaList([Asked()])


def _unrepeating(prompt: int) -> Any:
    """Return what keeps a model from repeating itself; it may repeat its prompt, which has a thousand image tokens."""
    from transformers import (
        LogitsProcessor,
        LogitsProcessorList,
        NoRepeatNGramLogitsProcessor,
        RepetitionPenaltyLogitsProcessor,
    )

    processors = [NoRepeatNGramLogitsProcessor(NO_REPEAT), RepetitionPenaltyLogitsProcessor(PENALTY)]

    class Unrepeating(LogitsProcessor):
        def __call__(self, input_ids: Any, scores: Any) -> Any:
            written = input_ids[:, prompt:]
            for processor in processors if written.shape[1] else ():
                scores = processor(written, scores)
            return scores

    return LogitsProcessorList([Unrepeating()])


def _said(tokens: Any, log_probabilities: Any, decode: Callable[[Any], str], ends: set[int]) -> Said:
    """Return a row up to its end; what follows it is padding."""
    length = next((place for place, token in enumerate(tokens.tolist()) if token in ends), len(tokens))
    if length == 0:
        return Said("", 0.0, True)
    confidence = log_probabilities[:length].mean().exp().item()
    return Said(decode(tokens[:length]), min(max(confidence, 0.0), 1.0), length < len(tokens))
