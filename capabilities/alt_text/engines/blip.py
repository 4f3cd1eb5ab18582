"""blip: English captions by a BLIP model (Li et al. 2022), quick even without a GPU."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Self

from capabilities.alt_text.engines import MODES, CaptionRequest, Mode
from capabilities.alt_text.engines.generation.decoding import Decoded, generate
from capabilities.alt_text.engines.generation.generator import Generator
from capabilities.alt_text.settings import CaptioningSettings
from pipeline.errors import NotReady
from pipeline.settings import Settings
from workers.engines.model_choice import settled

#: The words that each text begins with. The model continues them; they are not part of the text. Without any, the
#: text is shortest.
PREFIXES: dict[Mode, str] = {"short": "", "seo": "a photo of", "long": "in this picture we can see"}
MOST_TOKENS: dict[Mode, int] = {"short": 30, "seo": 40, "long": 90}
LEAST_TOKENS: dict[Mode, int] = {"short": 3, "seo": 8, "long": 20}

#: A word without meaning that the large models learnt from their training texts: "arafed man in a red shirt".
ARTEFACT = re.compile(r"\b(?:there (?:is|are) )?(?:an? )?ara?f+(?:e|ed|es)?\b\s*", re.IGNORECASE)


class Blip(Generator):
    """A BlipForConditionalGeneration."""

    name = "blip"
    gpu_batch = 32

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the engine, its model not loaded yet."""
        return cls(
            settings.of(CaptioningSettings),
            settled(settings, settings.of(CaptioningSettings).blip, "captioning", cls.name),
        )

    def languages(self) -> Sequence[str]:
        """Return the languages it writes: it was trained on English only."""
        return ["en"]

    def _load_model(self) -> Any:
        model = super()._load_model()
        if model.config.model_type != "blip":
            raise NotReady(
                f"{self._settings.model} is a {model.config.model_type} model; the engine blip wants a BLIP model, "
                "and the engine vlm takes chat models: PRESSROOM_CAPTIONING__VLM__MODEL."
            )
        return model

    def _generate(self, wishes: Sequence[CaptionRequest], stop: Callable[[], bool]) -> Sequence[dict[Mode, Decoded]]:
        """Return the model's texts; each picture passes the encoder once, for all its modes."""
        import torch

        with torch.inference_mode():
            prepared = self._processor.image_processor(
                self._prepared(wish.picture.image for wish in wishes), return_tensors="pt"
            )
            pixels = prepared["pixel_values"].to(self._model.device, self._model.dtype)
            encoded = self._model.vision_model(pixel_values=pixels)[0]
            texts: list[dict[Mode, Decoded]] = [{} for _ in wishes]
            for mode in MODES:
                rows = [row for row, wish in enumerate(wishes) if mode in wish.modes]
                for row, text in zip(rows, self._of_mode(mode, encoded[rows], stop) if rows else (), strict=True):
                    texts[row][mode] = text
        return texts

    def _of_mode(self, mode: Mode, encoded: Any, stop: Callable[[], bool]) -> list[Decoded]:
        """Return one mode's text of each picture; `encoded` is of shape (pictures, patches, width)."""
        import torch

        config = self._model.config.text_config
        words = self._processor.tokenizer(PREFIXES[mode], add_special_tokens=False)["input_ids"]
        prompt = torch.tensor([[config.bos_token_id, *words]] * len(encoded), device=encoded.device)
        return generate(
            self._model.text_decoder,
            stop,
            decode=self._decode,
            ends={config.sep_token_id},
            input_ids=prompt,
            attention_mask=torch.ones_like(prompt),
            eos_token_id=config.sep_token_id,
            pad_token_id=config.pad_token_id,
            encoder_hidden_states=encoded,
            encoder_attention_mask=torch.ones(encoded.shape[:-1], dtype=torch.long, device=encoded.device),
            most=[MOST_TOKENS[mode]] * len(encoded),
            min_new_tokens=LEAST_TOKENS[mode],
        )

    def _decode(self, tokens: Any) -> str:
        return ARTEFACT.sub("", super()._decode(tokens))
