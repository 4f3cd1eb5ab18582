"""Diffusion pipelines of random weights, as small as they go, on disk as a hub's are: real code, random pictures."""

import json
from pathlib import Path

#: The side of a tiny model's pictures, in pixels.
SIDE = 32


def build_sd(folder: Path, *, flags: bool | None = None) -> Path:
    """Return a folder with a Stable Diffusion pipeline; `flags`: with a safety checker, which flags all, or none."""
    from diffusers import DDIMScheduler, StableDiffusionPipeline
    from transformers import CLIPImageProcessorPil

    _seed()
    checker = None if flags is None else _checker(flags=flags)
    pipeline = StableDiffusionPipeline(
        vae=_vae(),
        text_encoder=_text_encoder(),
        tokenizer=_tokenizer(folder),
        unet=_unet(),
        scheduler=DDIMScheduler(clip_sample=False, steps_offset=1),
        safety_checker=checker,
        feature_extractor=CLIPImageProcessorPil(size=32, crop_size=32),
        requires_safety_checker=checker is not None,
    )
    pipeline.save_pretrained(folder, safe_serialization=True)
    return folder


def build_sdxl(folder: Path) -> Path:
    """Return a folder with a Stable Diffusion XL pipeline."""
    from diffusers import DDIMScheduler, StableDiffusionXLPipeline

    _seed()
    pipeline = StableDiffusionXLPipeline(
        vae=_vae(),
        text_encoder=_text_encoder(),
        text_encoder_2=_text_encoder(projected=True),
        tokenizer=_tokenizer(folder),
        tokenizer_2=_tokenizer(folder),
        unet=_unet(
            attention_head_dim=(2, 4),
            addition_embed_type="text_time",
            addition_time_embed_dim=8,
            projection_class_embeddings_input_dim=80,
            cross_attention_dim=64,
            transformer_layers_per_block=(1, 2),
            use_linear_projection=True,
        ),
        scheduler=DDIMScheduler(clip_sample=False, steps_offset=1),
        add_watermarker=False,
    )
    pipeline.save_pretrained(folder, safe_serialization=True)
    return folder


def build_flux2(folder: Path) -> Path:
    """Return a folder with a FLUX.2 [klein] pipeline, of the catalogue's form."""
    from diffusers import (
        AutoencoderKLFlux2,
        FlowMatchEulerDiscreteScheduler,
        Flux2KleinPipeline,
        Flux2Transformer2DModel,
    )
    from transformers import Qwen3Config, Qwen3ForCausalLM

    _seed()
    tokenizer = _byte_tokenizer()
    # Layers 9, 18 and 27 are read.
    language = Qwen3Config(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=28, num_attention_heads=2,
        num_key_value_heads=1, head_dim=8,
    )  # fmt: skip
    pipeline = Flux2KleinPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=AutoencoderKLFlux2(
            down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2,
            block_out_channels=(8, 8), layers_per_block=1, latent_channels=4, norm_num_groups=4, sample_size=SIDE,
        ),
        text_encoder=Qwen3ForCausalLM(language),
        tokenizer=tokenizer,
        transformer=Flux2Transformer2DModel(
            in_channels=16, num_layers=1, num_single_layers=1, attention_head_dim=16, num_attention_heads=2,
            joint_attention_dim=48, timestep_guidance_channels=16, axes_dims_rope=(4, 4, 4, 4), guidance_embeds=False,
        ),
    )  # fmt: skip
    pipeline.save_pretrained(folder, safe_serialization=True)
    return folder


def _byte_tokenizer() -> object:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bare = Tokenizer(models.BPE(vocab={sign: place for place, sign in enumerate(alphabet)}, merges=[]))
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bare, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    tokenizer.chat_template = (
        "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
        "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    return tokenizer


def _seed() -> None:
    import torch

    torch.manual_seed(0)


def _unet(**more: object) -> object:
    from diffusers import UNet2DConditionModel

    wanted: dict[str, object] = {
        "block_out_channels": (32, 64),
        "layers_per_block": 1,
        "sample_size": SIDE // 2,
        "in_channels": 4,
        "out_channels": 4,
        "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D"),
        "up_block_types": ("CrossAttnUpBlock2D", "UpBlock2D"),
        "cross_attention_dim": 32,
    }
    return UNet2DConditionModel(**{**wanted, **more})


def _vae() -> object:
    from diffusers import AutoencoderKL

    return AutoencoderKL(
        block_out_channels=[32, 32],
        in_channels=3,
        out_channels=3,
        down_block_types=["DownEncoderBlock2D"] * 2,
        up_block_types=["UpDecoderBlock2D"] * 2,
        latent_channels=4,
        norm_num_groups=8,
    )


def _text_encoder(*, projected: bool = False) -> object:
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTextModelWithProjection

    config = CLIPTextConfig(
        hidden_size=32,
        intermediate_size=37,
        num_attention_heads=4,
        num_hidden_layers=2,
        vocab_size=1000,
        projection_dim=32,
        hidden_act="gelu" if projected else "quick_gelu",
    )
    return (CLIPTextModelWithProjection if projected else CLIPTextModel)(config)


def _tokenizer(folder: Path) -> object:
    """Return a tokenizer that knows the bytes alone, and has no merges."""
    from transformers import CLIPTokenizer
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    letters = list(bytes_to_unicode().values())
    tokens = [*letters, *(letter + "</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    source = folder.with_name(folder.name + "-words")
    source.mkdir(parents=True, exist_ok=True)
    vocabulary, merges = source / "vocab.json", source / "merges.txt"
    vocabulary.write_text(json.dumps({token: index for index, token in enumerate(tokens)}))
    merges.write_text("#version: 0.2\n")
    return CLIPTokenizer.from_pretrained(source, model_max_length=77)


def _checker(*, flags: bool) -> object:
    """Return a safety checker that finds its concepts in every picture, or in none."""
    import torch
    from diffusers.pipelines.stable_diffusion.safety_checker import StableDiffusionSafetyChecker
    from transformers import CLIPConfig

    config = CLIPConfig(
        text_config={"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "vocab_size": 1000},
        vision_config={
            "hidden_size": 32,
            "intermediate_size": 37,
            "num_hidden_layers": 1,
            "num_attention_heads": 4,
            "image_size": 32,
            "patch_size": 8,
        },
        projection_dim=32,
    )
    checker = StableDiffusionSafetyChecker(config)
    with torch.no_grad():
        # A cosine is above -2 always, and above 2 never.
        for weights in (checker.concept_embeds_weights, checker.special_care_embeds_weights):
            weights.fill_(-2.0 if flags else 2.0)
    return checker
