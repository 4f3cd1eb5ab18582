"""Tiny GGUF models with random weights, of one megabyte, that llama.cpp loads: a language model and its projector.

Two forms: that of Qwen3-VL and that of SmolVLM. They speak no sense, but differently of different pictures."""

from pathlib import Path
from typing import Any

import gguf
import numpy as np

WIDTH, HIDDEN, HEADS, LAYERS = 64, 128, 2, 2
VISION_WIDTH, VISION_HIDDEN, PATCH = 32, 64, 16
WORDS = 512
#: So large that pictures sway what is said.
SWAY = 0.15
EPSILON = 1e-6
MARKS = {
    "qwen3vl": ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>"],
    "llama": [
        *("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<end_of_utterance>", "<fake_token_around_image>"),
        *("<global-img>", "<image>", "<|image_pad|>"),
        *(f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7)),
    ],
}
TEMPLATE = (
    "{%- for message in messages -%}<|im_start|>{{ message.role }}\n"
    "{%- if message.content is string -%}{{ message.content }}{%- else -%}{%- for part in message.content -%}"
    "{%- if part.type == 'text' -%}{{ part.text }}{%- else -%}<|image_pad|>{%- endif -%}{%- endfor -%}{%- endif -%}"
    "<|im_end|>\n{%- endfor -%}{%- if add_generation_prompt -%}<|im_start|>assistant\n{%- endif -%}"
)


def build_gguf(folder: Path, form: str = "qwen3vl") -> Path:
    """Write a pair into a folder: form qwen3vl, or llama (SmolVLM)."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(7)
    _write_language_model(folder / "tiny.gguf", form, random)
    _write_projector(folder / "mmproj-tiny.gguf", form, random)
    return folder


def _finish(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _write_language_model(path: Path, form: str, random: np.random.Generator) -> None:
    writer = gguf.GGUFWriter(path, form)
    writer.add_block_count(LAYERS)
    writer.add_context_length(8_192)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(1)
    writer.add_key_length(WIDTH // HEADS)
    writer.add_value_length(WIDTH // HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_rope_freq_base(1e5)
    writer.add_layer_norm_rms_eps(EPSILON)
    writer.add_vocab_size(WORDS)
    if form == "qwen3vl":
        writer.add_rope_dimension_sections([6, 5, 5, 0])
        writer.add_num_deepstack_layers(1)
    _add_vocabulary(writer, form)
    writer.add_chat_template(TEMPLATE)

    def add(name: str, *shape: int) -> None:
        writer.add_tensor(name, (random.standard_normal(shape) * SWAY).astype(np.float16))

    def ones(name: str, size: int) -> None:
        writer.add_tensor(name, np.ones(size, np.float32))

    add("token_embd.weight", WORDS, WIDTH)
    add("output.weight", WORDS, WIDTH)
    ones("output_norm.weight", WIDTH)
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        ones(f"{block}attn_norm.weight", WIDTH)
        ones(f"{block}ffn_norm.weight", WIDTH)
        add(f"{block}attn_q.weight", WIDTH, WIDTH)
        add(f"{block}attn_k.weight", WIDTH // HEADS, WIDTH)
        add(f"{block}attn_v.weight", WIDTH // HEADS, WIDTH)
        add(f"{block}attn_output.weight", WIDTH, WIDTH)
        if form == "qwen3vl":
            ones(f"{block}attn_q_norm.weight", WIDTH // HEADS)
            ones(f"{block}attn_k_norm.weight", WIDTH // HEADS)
        add(f"{block}ffn_gate.weight", HIDDEN, WIDTH)
        add(f"{block}ffn_up.weight", HIDDEN, WIDTH)
        add(f"{block}ffn_down.weight", WIDTH, HIDDEN)
    _finish(writer)


def _add_vocabulary(writer: gguf.GGUFWriter, form: str) -> None:
    """Add a byte-level vocabulary: every byte, made-up words, and the marks of the form."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    signs = {byte: chr(byte) for byte in printable}
    signs |= {byte: chr(256 + place) for place, byte in enumerate(b for b in range(256) if b not in signs)}
    random, words = np.random.default_rng(1), set[str]()
    while len(words) < WORDS - 257 - len(MARKS[form]):
        words.add("\u0120" + "".join(chr(97 + letter) for letter in random.integers(0, 26, 5)))
    # SmolVLM's layout of a picture looks for the token of an empty line.
    tokens = [*(signs[byte] for byte in range(256)), "\u010a\u010a", *sorted(words), *MARKS[form]]
    plain = len(tokens) - len(MARKS[form])
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2" if form == "qwen3vl" else "smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.NORMAL] * plain + [gguf.TokenType.CONTROL] * len(MARKS[form]))
    writer.add_token_merges(["\u0120 t"])
    writer.add_bos_token_id(tokens.index("<|im_start|>"))
    writer.add_eos_token_id(tokens.index("<|im_end|>"))
    writer.add_pad_token_id(tokens.index("<|endoftext|>"))
    writer.add_add_bos_token(False)


def _write_projector(path: Path, form: str, random: np.random.Generator) -> None:
    side, deep = (768, [0]) if form == "qwen3vl" else (64, [])
    writer = gguf.GGUFWriter(path, "clip")
    writer.add_type("mmproj")
    writer.add_clip_has_vision_encoder(True)
    writer.add_vision_projection_dim(WIDTH)
    writer.add_vision_image_size(side)
    writer.add_vision_patch_size(PATCH)
    writer.add_vision_embedding_length(VISION_WIDTH)
    writer.add_vision_feed_forward_length(VISION_HIDDEN)
    writer.add_vision_block_count(LAYERS)
    writer.add_vision_head_count(HEADS)
    writer.add_vision_attention_layernorm_eps(EPSILON)
    writer.add_vision_use_gelu(True)
    writer.add_vision_image_mean([0.5] * 3)
    writer.add_vision_image_std([0.5] * 3)

    def add(name: str, *shape: int, kind: Any = np.float16) -> None:
        writer.add_tensor(f"{name}.weight", (random.standard_normal(shape) * SWAY).astype(kind))

    def linear(name: str, out: int, into: int) -> None:
        add(name, out, into)
        writer.add_tensor(f"{name}.bias", np.zeros(out, np.float32))

    def norm(name: str, size: int = VISION_WIDTH) -> None:
        writer.add_tensor(f"{name}.weight", np.ones(size, np.float32))
        writer.add_tensor(f"{name}.bias", np.zeros(size, np.float32))

    add("v.patch_embd", VISION_WIDTH, 3, PATCH, PATCH, kind=np.float32)
    writer.add_tensor("v.patch_embd.bias", np.zeros(VISION_WIDTH, np.float32))
    add("v.position_embd", (side // PATCH) ** 2, VISION_WIDTH, kind=np.float32)
    norm("v.post_ln")
    wide = VISION_WIDTH * 4
    if form == "qwen3vl":
        writer.add_clip_projector_type("qwen3vl_merger")
        writer.add_tensor("v.patch_embd.weight.1", np.zeros((VISION_WIDTH, 3, PATCH, PATCH), np.float32))
        writer.add_vision_spatial_merge_size(2)
        writer.add_vision_is_deepstack_layers([layer in deep for layer in range(LAYERS)])
        linear("mm.0", wide, wide)
        linear("mm.2", WIDTH, wide)
        for layer in deep:
            norm(f"v.deepstack.{layer}.norm", wide)
            linear(f"v.deepstack.{layer}.fc1", wide, wide)
            linear(f"v.deepstack.{layer}.fc2", WIDTH, wide)
    else:
        writer.add_clip_projector_type("idefics3")
        writer.add_vision_projector_scale_factor(2)
        writer.add_vision_preproc_image_size(128)
        add("mm.model.fc", WIDTH, wide)
    for layer in range(LAYERS):
        block = f"v.blk.{layer}."
        if form == "qwen3vl":
            linear(f"{block}attn_qkv", 3 * VISION_WIDTH, VISION_WIDTH)
        else:
            for part in "qkv":
                linear(f"{block}attn_{part}", VISION_WIDTH, VISION_WIDTH)
        linear(f"{block}attn_out", VISION_WIDTH, VISION_WIDTH)
        norm(f"{block}ln1")
        norm(f"{block}ln2")
        linear(f"{block}ffn_up", VISION_HIDDEN, VISION_WIDTH)
        linear(f"{block}ffn_down", VISION_WIDTH, VISION_HIDDEN)
    _finish(writer)
