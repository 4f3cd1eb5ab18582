"""blip: English captions by a BLIP model (Li et al. 2022), quick even without a GPU."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Self

from pipeline.errors import NotReady
from pipeline.settings import Settings
from workers.engines import models
from workers.engines.captioning import MODES, Mode, Wish
from workers.engines.captioning.generating import Generator
from workers.engines.captioning.saying import Said, generate

#: How each text begins; the model goes on from there, and the prefix itself is not shown. Without one it says least.
PREFIXES: dict[Mode, str] = {"short": "", "seo": "a photo of", "long": "in this picture we can see"}
MOST_TOKENS: dict[Mode, int] = {"short": 30, "seo": 40, "long": 90}
LEAST_TOKENS: dict[Mode, int] = {"short": 3, "seo": 8, "long": 20}

#: A word without meaning that the large models learnt from their captions: "arafed man in a red shirt".
ARTEFACT = re.compile(r"\b(?:there (?:is|are) )?(?:an? )?ara?f+(?:e|ed|es)?\b\s*", re.IGNORECASE)


class Blip(Generator):
    """A BlipForConditionalGeneration."""

    name = "blip"
    gpu_batch = 32

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the engine, its model not loaded yet."""
        return cls(settings.captioning, settings.captioning.blip)

    def languages(self) -> Sequence[str]:
        """Return the languages it writes: it was trained on English alone."""
        return ["en"]

    def _load(self) -> None:
        with models.named(str(self._settings.model)):
            from transformers import AutoModelForImageTextToText, AutoProcessor
        self._processor = models.load(AutoProcessor.from_pretrained, self._settings)
        model = models.load(
            AutoModelForImageTextToText.from_pretrained, self._settings, **models.weights(self._settings)
        )
        if model.config.model_type != "blip":
            raise NotReady(
                f"{self._settings.model} is a {model.config.model_type} model; the engine blip wants a BLIP model, "
                "and the engine vlm takes chat models: PRESSROOM_CAPTIONING__VLM__MODEL."
            )
        self._model = models.place(model, self._settings)

    def _say(self, wishes: Sequence[Wish], stop: Callable[[], bool]) -> Sequence[dict[Mode, Said]]:
        """Return what the model says; pictures go through the encoder once, whatever is asked of them."""
        import torch

        with torch.inference_mode():
            pictures = self._processor.image_processor(
                self._given(wish.picture.image for wish in wishes), return_tensors="pt"
            )
            pixels = pictures["pixel_values"].to(self._model.device, self._model.dtype)
            seen = self._model.vision_model(pixel_values=pixels)[0]
            said: list[dict[Mode, Said]] = [{} for _ in wishes]
            for mode in MODES:
                rows = [row for row, wish in enumerate(wishes) if mode in wish.modes]
                for row, one in zip(rows, self._say_one(mode, seen[rows], stop) if rows else (), strict=True):
                    said[row][mode] = one
        return said

    def _say_one(self, mode: Mode, seen: Any, stop: Callable[[], bool]) -> list[Said]:
        """Return one mode's text of each encoded picture; `seen` is of shape (pictures, patches, width)."""
        import torch

        text = self._model.config.text_config
        words = self._processor.tokenizer(PREFIXES[mode], add_special_tokens=False)["input_ids"]
        prompt = torch.tensor([[text.bos_token_id, *words]] * len(seen), device=seen.device)
        return generate(
            self._model.text_decoder,
            stop,
            decode=self._decoded,
            ends={text.sep_token_id},
            input_ids=prompt,
            attention_mask=torch.ones_like(prompt),
            eos_token_id=text.sep_token_id,
            pad_token_id=text.pad_token_id,
            encoder_hidden_states=seen,
            encoder_attention_mask=torch.ones(seen.shape[:-1], dtype=torch.long, device=seen.device),
            most=[MOST_TOKENS[mode]] * len(seen),
            min_new_tokens=LEAST_TOKENS[mode],
        )

    def _decoded(self, tokens: Any) -> str:
        return ARTEFACT.sub("", self._processor.tokenizer.decode(tokens, skip_special_tokens=True))
