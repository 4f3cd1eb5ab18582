"""A BLIP model of the real one's size (Salesforce/blip-image-captioning-base), with random weights."""

from itertools import islice, product
from pathlib import Path

#: Sizes of the real model.
VOCABULARY = 30_524
SYLLABLES = [first + second for first in "bdfghklmnprstvz" for second in "aeiou"]


def build(folder: Path) -> Path:
    """Write the model into a folder: 224 million parameters, 900 MB."""
    import torch
    from transformers import BertTokenizer, BlipConfig, BlipForConditionalGeneration, BlipProcessor
    from transformers.models.blip.image_processing_pil_blip import BlipImageProcessorPil

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[DEC]", "."]
    words = ("".join(parts) for parts in product(SYLLABLES, repeat=3))
    names = [*special, "a", "photo", "of", "in", "this", "picture", "we", "can", "see"]
    names += islice(words, VOCABULARY - len(names))
    vocabulary = {name: place for place, name in enumerate(names)}
    tokens = {"bos_token_id": 4, "eos_token_id": 3, "sep_token_id": 3, "pad_token_id": 0}
    config = BlipConfig(text_config={"vocab_size": VOCABULARY, **tokens}, vision_config={"image_size": 384})
    torch.manual_seed(7)
    BlipForConditionalGeneration(config).save_pretrained(folder)
    images = BlipImageProcessorPil(size={"height": 384, "width": 384})
    BlipProcessor(images, BertTokenizer(vocab=vocabulary, bos_token="[DEC]")).save_pretrained(folder)
    return folder
