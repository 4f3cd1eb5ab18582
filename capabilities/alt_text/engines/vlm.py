"""vlm: captions in many languages by a vision-language chat model, any that transformers can load."""

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from PIL import Image

from capabilities.alt_text.engines import CaptionRequest, Mode
from capabilities.alt_text.engines.generation.decoding import Decoded, generate
from capabilities.alt_text.engines.generation.generator import Generator, SecondLook
from capabilities.alt_text.engines.generation.prompts import FILE, NAMES, prompt_of
from capabilities.alt_text.settings import CaptioningSettings
from pipeline.errors import NotReady
from pipeline.settings import Settings
from workers.engines.model_choice import settled
from workers.models.catalogue import read_catalogue

#: Languages in scripts of which a token holds one letter or less.
DENSE = frozenset(FILE["dense"].split())

MOST_TOKENS: dict[Mode, int] = {"short": 48, "seo": 64, "long": 160}
#: Times as many for DENSE languages, whose texts would be cut off otherwise.
DENSE_TIMES = 2
#: In pixels; larger pictures are shrunk, since no model of this kind uses more.
LONGEST_SIDE = 2_048


class Vlm(Generator):
    """A chat model with a vision tower."""

    name = "vlm"
    gpu_batch = 16
    looks_again = True

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the engine, its model not loaded yet."""
        return cls(
            settings.of(CaptioningSettings),
            settled(settings, settings.of(CaptioningSettings).vlm, "captioning", cls.name),
        )

    def languages(self) -> Sequence[str]:
        """Return the languages it can be asked to write; how well a model does that the catalogue has not, it knows."""
        known = read_catalogue().get(Path(self._settings.model or "").name)
        return list(known.languages) if known is not None and known.languages else list(NAMES)

    def _load(self) -> None:
        super()._load()
        self._features = _ImageFeatureCache(getattr(self._model, "model", None))

    def _load_processor(self) -> Any:
        processor = super()._load_processor()
        tokenizer = getattr(processor, "tokenizer", None)
        if tokenizer is None or not (processor.chat_template or tokenizer.chat_template):
            raise NotReady(
                f"{self._settings.model} has no chat template, so it can't be told what to write; take a chat "
                "(instruct) model, or for a BLIP model the engine blip: PRESSROOM_CAPTIONING__BLIP__MODEL."
            )
        # New tokens follow the last token of a row, so the padding stands before its first.
        tokenizer.padding_side = "left"
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        return processor

    def _look_again(self, looks: Sequence[SecondLook], stop: Callable[[], bool]) -> Sequence[Decoded]:
        """Return a text for each second look: what was wrong with the first, and what OCR read, stand in the prompt."""
        import torch

        prompts = [
            self._chat(prompt_of(look.mode, look.wish.language, look.wish.hints, faults=look.faults, read=look.read))
            for look in looks
        ]
        with torch.inference_mode(), self._features:
            return self._one_each([look.mode for look in looks], [look.wish for look in looks], prompts, stop)

    def _generate(self, wishes: Sequence[CaptionRequest], stop: Callable[[], bool]) -> Sequence[dict[Mode, Decoded]]:
        """Return the model's texts; each picture passes the vision tower once, for all its modes."""
        import torch

        with torch.inference_mode(), self._features:
            modes = [[wish.modes[place] for wish in wishes] for place in range(len(wishes[0].modes))]
            rounds = [
                self._one_each(
                    row, wishes, [self._prompt(mode, wish) for mode, wish in zip(row, wishes, strict=True)], stop
                )
                for row in modes
            ]
        rows = zip(*rounds, strict=True)
        return [dict(zip(wish.modes, texts, strict=True)) for wish, texts in zip(wishes, rows, strict=True)]

    def _one_each(
        self, modes: Sequence[Mode], wishes: Sequence[CaptionRequest], prompts: Sequence[str], stop: Callable[[], bool]
    ) -> list[Decoded]:
        """Return one text of each picture, of the mode and by the prompt in the same place."""
        inputs = self._processor(
            text=list(prompts),
            images=[[image] for image in self._prepared(_fitted(wish.picture.image) for wish in wishes)],
            padding=True,
            return_tensors="pt",
        ).to(self._model.device, self._model.dtype)
        tokenizer = self._processor.tokenizer
        return generate(
            self._model,
            stop,
            decode=self._decode,
            ends=self._ends(),
            **inputs,
            pad_token_id=tokenizer.pad_token_id,
            most=[
                MOST_TOKENS[mode] * (DENSE_TIMES if wish.language in DENSE else 1)
                for mode, wish in zip(modes, wishes, strict=True)
            ],
        )

    def _prompt(self, mode: Mode, wish: CaptionRequest) -> str:
        return self._chat(prompt_of(mode, wish.language, wish.hints))

    def _chat(self, prompt: str) -> str:
        messages = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": prompt}]}]
        return str(self._processor.apply_chat_template(messages, add_generation_prompt=True))

    def _ends(self) -> set[int]:
        configured = self._model.generation_config.eos_token_id
        ends = set(configured) if isinstance(configured, list) else {configured}
        return {end for end in (*ends, self._processor.tokenizer.eos_token_id) if end is not None}


def _fitted(image: Image.Image) -> Image.Image:
    scale = LONGEST_SIDE / max(image.size)
    if scale >= 1:
        return image
    size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    return image.resize(size, Image.Resampling.BICUBIC, reducing_gap=2.0)


class _ImageFeatureCache:
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
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
