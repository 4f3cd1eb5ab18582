"""GGUF models with random weights that llama.cpp loads: a language model and its projector, tiny or of true shapes.

Two forms: that of Qwen3-VL and that of SmolVLM (`llama`). They make no sense, but see a difference."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Kind

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
#: Bytes of a block of 32 or 256 weights, and where its scales stand: the other bytes may be any.
BLOCKS = {
    Kind.Q8_0: (32, 34, {0: 1 / 74}),
    Kind.Q4_K: (256, 144, {0: 1 / 300, 2: 1 / 40}),
    Kind.Q6_K: (256, 210, {208: 1 / 1370}),
}


@dataclass(frozen=True)
class Shape:
    """The sizes of a pair. `sway` is the spread of its weights: enough that pictures sway what a tiny one says."""

    form: str = "qwen3vl"
    layers: int = 2
    width: int = 64
    hidden: int = 128
    heads: int = 2
    pairs: int = 1
    head: int = 32
    words: int = 512
    kind: Kind = Kind.F16
    #: Of embedding, output and some layers, of which Q4_K_M keeps more bits.
    fine: Kind = Kind.F16
    sections: tuple[int, ...] = (6, 5, 5, 0)
    vision_layers: int = 2
    vision_width: int = 32
    vision_hidden: int = 64
    vision_heads: int = 2
    vision_kind: Kind = Kind.F16
    side: int = 768
    longest: int = 128
    patch: int = 16
    scale: int = 2
    deep: tuple[int, ...] = (0,)
    sway: float = 0.15


TINY = {"qwen3vl": Shape(), "llama": Shape("llama", side=64, deep=())}


def build_gguf(folder: Path, shape: Shape | str = "qwen3vl") -> Path:
    """Write a pair into a folder."""
    shape = TINY[shape] if isinstance(shape, str) else shape
    folder.mkdir(parents=True, exist_ok=True)
    _write_language_model(_Writer(folder / "tiny.gguf", shape.form, shape))
    _write_projector(_Writer(folder / "mmproj-tiny.gguf", "clip", shape))
    return folder


class _Writer(gguf.GGUFWriter):
    """A file of random tensors."""

    def __init__(self, path: Path, architecture: str, shape: Shape) -> None:
        super().__init__(path, architecture)
        self.shape = shape
        self._random = np.random.default_rng(7)

    def weights(self, name: str, *sizes: int, kind: Kind) -> None:
        """Add random weights."""
        if kind in BLOCKS:
            per_block, size, scales = BLOCKS[kind]
            blocks = self._random.integers(0, 256, (int(np.prod(sizes)) // per_block, size), dtype=np.uint8)
            for place, factor in scales.items():
                blocks[:, place : place + 2] = np.frombuffer(np.float16(self.shape.sway * factor).tobytes(), np.uint8)
            self.add_tensor(f"{name}.weight", blocks.reshape(*sizes[:-1], -1), raw_dtype=kind)
        else:
            values = self._random.standard_normal(sizes, dtype=np.float32) * self.shape.sway
            self.add_tensor(f"{name}.weight", values.astype(np.float16 if kind is Kind.F16 else np.float32))

    def ones(self, name: str, size: int, *, bias: bool = False) -> None:
        """Add the weights of a norm."""
        self.add_tensor(f"{name}.weight", np.ones(size, np.float32))
        if bias:
            self.add_tensor(f"{name}.bias", np.zeros(size, np.float32))

    def linear(self, name: str, out: int, into: int) -> None:
        """Add a layer of the projector, with its bias."""
        self.weights(name, out, into, kind=self.shape.vision_kind)
        self.add_tensor(f"{name}.bias", np.zeros(out, np.float32))

    def finish(self) -> None:
        """Write the file."""
        self.write_header_to_file()
        self.write_kv_data_to_file()
        self.write_tensors_to_file()
        self.close()


def _write_language_model(writer: _Writer) -> None:
    shape = writer.shape
    is_qwen = shape.form == "qwen3vl"
    writer.add_block_count(shape.layers)
    writer.add_context_length(8_192)
    writer.add_embedding_length(shape.width)
    writer.add_feed_forward_length(shape.hidden)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.pairs)
    writer.add_key_length(shape.head)
    writer.add_value_length(shape.head)
    writer.add_rope_dimension_count(shape.head)
    writer.add_rope_freq_base(1e5)
    writer.add_layer_norm_rms_eps(EPSILON)
    writer.add_vocab_size(shape.words)
    if is_qwen:
        writer.add_rope_dimension_sections(list(shape.sections))
        writer.add_num_deepstack_layers(len(shape.deep))
    _add_vocabulary(writer)
    writer.add_chat_template(TEMPLATE)
    writer.weights("token_embd", shape.words, shape.width, kind=shape.fine)
    if not is_qwen or shape.words == TINY["qwen3vl"].words:  # Qwen's output is its embedding
        writer.weights("output", shape.words, shape.width, kind=shape.fine)
    writer.ones("output_norm", shape.width)
    for layer in range(shape.layers):
        _add_layer(writer, layer, is_qwen=is_qwen)
    writer.finish()


def _add_layer(writer: _Writer, layer: int, *, is_qwen: bool) -> None:
    shape, block = writer.shape, f"blk.{layer}."
    eighth = shape.layers // 8
    has_more = layer < eighth or layer >= 7 * eighth or (layer - eighth) % 3 == 2
    finer = shape.fine if has_more else shape.kind
    writer.ones(f"{block}attn_norm", shape.width)
    writer.ones(f"{block}ffn_norm", shape.width)
    if is_qwen:
        writer.ones(f"{block}attn_q_norm", shape.head)
        writer.ones(f"{block}attn_k_norm", shape.head)
    writer.weights(f"{block}attn_q", shape.heads * shape.head, shape.width, kind=shape.kind)
    writer.weights(f"{block}attn_k", shape.pairs * shape.head, shape.width, kind=shape.kind)
    writer.weights(f"{block}attn_v", shape.pairs * shape.head, shape.width, kind=finer)
    writer.weights(f"{block}attn_output", shape.width, shape.heads * shape.head, kind=shape.kind)
    writer.weights(f"{block}ffn_gate", shape.hidden, shape.width, kind=shape.kind)
    writer.weights(f"{block}ffn_up", shape.hidden, shape.width, kind=shape.kind)
    writer.weights(f"{block}ffn_down", shape.width, shape.hidden, kind=finer)


def _add_vocabulary(writer: _Writer) -> None:
    """Add a byte-level vocabulary: every byte, made-up words, and the marks of the form."""
    form, words = writer.shape.form, set[str]()
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    signs = {byte: chr(byte) for byte in printable}
    signs |= {byte: chr(256 + place) for place, byte in enumerate(b for b in range(256) if b not in signs)}
    random = np.random.default_rng(1)
    while len(words) < writer.shape.words - 257 - len(MARKS[form]):
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


def _write_projector(writer: _Writer) -> None:
    shape = writer.shape
    writer.add_type("mmproj")
    writer.add_clip_has_vision_encoder(True)
    writer.add_vision_projection_dim(shape.width)
    writer.add_vision_image_size(shape.side)
    writer.add_vision_patch_size(shape.patch)
    writer.add_vision_embedding_length(shape.vision_width)
    writer.add_vision_feed_forward_length(shape.vision_hidden)
    writer.add_vision_block_count(shape.vision_layers)
    writer.add_vision_head_count(shape.vision_heads)
    writer.add_vision_attention_layernorm_eps(EPSILON)
    writer.add_vision_use_gelu(True)
    writer.add_vision_image_mean([0.5] * 3)
    writer.add_vision_image_std([0.5] * 3)
    patches: Any = (shape.vision_width, 3, shape.patch, shape.patch)
    writer.weights("v.patch_embd", *patches, kind=Kind.F32)
    writer.add_tensor("v.patch_embd.bias", np.zeros(shape.vision_width, np.float32))
    writer.weights("v.position_embd", (shape.side // shape.patch) ** 2, shape.vision_width, kind=Kind.F32)
    writer.ones("v.post_ln", shape.vision_width, bias=True)
    wide = shape.vision_width * shape.scale**2
    if shape.form == "qwen3vl":
        writer.add_clip_projector_type("qwen3vl_merger")
        writer.add_tensor("v.patch_embd.weight.1", np.zeros(patches, np.float32))
        writer.add_vision_spatial_merge_size(shape.scale)
        writer.add_vision_is_deepstack_layers([layer in shape.deep for layer in range(shape.vision_layers)])
        writer.linear("mm.0", wide, wide)
        writer.linear("mm.2", shape.width, wide)
        for layer in shape.deep:
            writer.ones(f"v.deepstack.{layer}.norm", wide, bias=True)
            writer.linear(f"v.deepstack.{layer}.fc1", wide, wide)
            writer.linear(f"v.deepstack.{layer}.fc2", shape.width, wide)
    else:
        writer.add_clip_projector_type("idefics3")
        writer.add_vision_projector_scale_factor(shape.scale)
        writer.add_vision_preproc_image_size(shape.longest)
        writer.weights("mm.model.fc", shape.width, wide, kind=shape.vision_kind)
    for layer in range(shape.vision_layers):
        _add_vision_layer(writer, layer)
    writer.finish()


def _add_vision_layer(writer: _Writer, layer: int) -> None:
    block, width, hidden = f"v.blk.{layer}.", writer.shape.vision_width, writer.shape.vision_hidden
    if writer.shape.form == "qwen3vl":
        writer.linear(f"{block}attn_qkv", 3 * width, width)
    else:
        for part in "qkv":
            writer.linear(f"{block}attn_{part}", width, width)
    writer.linear(f"{block}attn_out", width, width)
    writer.ones(f"{block}ln1", width, bias=True)
    writer.ones(f"{block}ln2", width, bias=True)
    writer.linear(f"{block}ffn_up", hidden, width)
    writer.linear(f"{block}ffn_down", width, hidden)
