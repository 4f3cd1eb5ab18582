"""Vision models with random weights, of a few kilobytes, that a real engine loads from a folder."""

from pathlib import Path
from typing import Any

#: Their vocabulary: random weights make no sense, but words.
WORDS = """
a the dog cat house tree red blue green white black small large car street beach sky sun boat child
woman man table chair book window door flower bird horse field river stone bread cup lamp road
bridge and with on near under behind in photo of this picture we can see image write answer describe
text short sentence full
"""

#: So large that pictures sway what is said.
SWAY = 0.3
VISION = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": 32,
    "patch_size": 8,
    "initializer_range": SWAY,
}
TEMPLATE = (
    "{% for message in messages %}User: {% for part in message.content %}"
    "{% if part.type == 'image' %}<image>{% else %}{{ part.text }}{% endif %}{% endfor %}"
    "<end_of_utterance>\n{% endfor %}{% if add_generation_prompt %}Assistant:{% endif %}"
)


def build_chat_vlm(folder: Path) -> Path:
    """Write a chat model that sees into a folder: Idefics3's form, that of SmolVLM."""
    from transformers import Idefics3Config, Idefics3ForConditionalGeneration, Idefics3Processor
    from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil

    places = [f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7)]
    tokenizer = _chat_tokenizer(["<image>", "<fake_token_around_image>", "<end_of_utterance>", "<global-img>", *places])
    config = Idefics3Config(
        image_token_id=4,
        pad_token_id=0,
        scale_factor=2,
        vision_config=VISION,
        text_config=_llama(len(tokenizer)),
    )
    _save_chat_model(Idefics3ForConditionalGeneration, config, folder)
    images = Idefics3ImageProcessorPil(size={"longest_edge": 64}, max_image_size={"longest_edge": 32})
    Idefics3Processor(images, tokenizer, image_seq_len=4, chat_template=TEMPLATE).save_pretrained(folder)
    return folder


def build_llava(folder: Path) -> Path:
    """Write a chat model that sees into a folder: LLaVA's form."""
    from transformers import LlavaConfig, LlavaForConditionalGeneration, LlavaProcessor
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    tokenizer = _chat_tokenizer(["<image>", "<fake_token_around_image>", "<end_of_utterance>"])
    config = LlavaConfig(
        image_token_index=4,
        vision_config={"model_type": "clip_vision_model", **VISION, "projection_dim": 32},
        text_config=_llama(len(tokenizer)),
        vision_feature_select_strategy="default",
        vision_feature_layer=-1,
    )
    _save_chat_model(LlavaForConditionalGeneration, config, folder)
    images = CLIPImageProcessorPil(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    LlavaProcessor(
        images, tokenizer, patch_size=8, vision_feature_select_strategy="default", chat_template=TEMPLATE,
        num_additional_image_tokens=1,
    ).save_pretrained(folder)  # fmt: skip
    return folder


def build_qwen3_vl(folder: Path) -> Any:
    """Write a chat model that sees into a folder, of the catalogue's form for GPUs; return its processor.

    That is made here, without its part for videos, which needs torchvision."""
    from transformers import Qwen3VLConfig, Qwen3VLForConditionalGeneration, Qwen3VLProcessor
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    tokenizer = _chat_tokenizer(
        ["<image>", "<|vision_start|>", "<end_of_utterance>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]
    )
    text = _llama(len(tokenizer)) | {
        "head_dim": 16,
        "rope_scaling": {"rope_type": "default", "mrope_section": [4, 2, 2]},
    }
    del text["model_type"]
    vision = {
        "depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2, "patch_size": 8, "out_hidden_size": 32,
        "num_position_embeddings": 64, "deepstack_visual_indexes": [0], "initializer_range": SWAY,
    }  # fmt: skip
    config = Qwen3VLConfig(
        vision_start_token_id=5, vision_end_token_id=7, image_token_id=8, video_token_id=9,
        vision_config=vision, text_config=text,
    )  # fmt: skip
    _save_chat_model(Qwen3VLForConditionalGeneration, config, folder)
    images = Qwen2VLImageProcessorPil(patch_size=8, size={"shortest_edge": 1_024, "longest_edge": 4_096})
    template = TEMPLATE.replace("<image>", "<|vision_start|><|image_pad|><|vision_end|>")

    class WithoutVideos(Qwen3VLProcessor):
        def check_argument_for_proper_class(self, argument_name: str, argument: Any) -> type:
            return type(argument)

    return WithoutVideos(images, tokenizer, None, chat_template=template)


def _chat_tokenizer(marks: list[str]) -> Any:
    """Return a tokenizer of WORDS; `marks` are tokens of their own, the first of them number 4."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    names = ["<pad>", "<unk>", "<s>", "</s>", *marks, *WORDS.split(), "User", "Assistant", ":", "."]
    inner = Tokenizer(models.WordLevel({name: place for place, name in enumerate(names)}, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", unk_token="<unk>", bos_token="<s>", eos_token="<end_of_utterance>"
    )
    tokenizer.add_special_tokens({"additional_special_tokens": marks})
    return tokenizer


def _llama(words: int) -> dict[str, Any]:
    """Return the configuration of a language model; the end of a turn is token 6."""
    return {
        "model_type": "llama",
        "vocab_size": words,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "initializer_range": SWAY,
        "bos_token_id": 2,
        "eos_token_id": 6,
        "pad_token_id": 0,
    }


def _save_chat_model(kind: Any, config: Any, folder: Path) -> None:
    import torch

    torch.manual_seed(7)
    model = kind(config)
    model.generation_config.eos_token_id = 6
    model.generation_config.pad_token_id = 0
    model.save_pretrained(folder)


def build_safety(folder: Path, *, flags: bool, label: str = "nsfw") -> Path:
    """Write an image classifier into a folder that flags every picture, or none; return the folder."""
    import torch
    from transformers import ViTConfig, ViTForImageClassification
    from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

    torch.manual_seed(0)
    config = ViTConfig(**VISION, num_channels=3, id2label={0: "normal", 1: label}, label2id={"normal": 0, label: 1})
    model = ViTForImageClassification(config)
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.copy_(torch.tensor([0.0, 4.0 if flags else -4.0]))
    model.save_pretrained(folder, safe_serialization=True)
    ViTImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(folder)
    return folder
