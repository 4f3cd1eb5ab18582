"""A Whisper of random weights whose decoder knows one sentence by heart: it says it of any 30 seconds of speech.

Its position embeddings point at the token that comes next, so what it says, and how much, is known, and each step takes
what it takes in a model of its size. The language that it detects is its first word, as it were.
"""

import json
from collections.abc import Sequence
from pathlib import Path

CODES = (
    "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml"
    " cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am"
    " yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su"
)
LANGUAGES = CODES.split()
TOKENS = 51_865
TEXT_TOKENS = 50_257
#: The last of a multilingual Whisper's text tokens. CTranslate2 4.8 tells by it alone: a model without it is said to be
#: an English one (`is_multilingual` is False), whatever else it has, and no language is ever detected.
MULTILINGUAL_TOKEN = ""
WORDS = (" this", " is", " what", " a", " random", " model", " says", ".")
#: Where the sentence ends, in steps of 20 ms.
SAYS_FOR = 150


def build(
    folder: Path,
    *,
    width: int = 64,
    layers: int = 2,
    heads: int = 2,
    language: str | None = "de",
    words: Sequence[str] = WORDS,
    quantization: str = "int8",
) -> Path:
    """Return a folder with the model as faster-whisper loads it; without a `language` it is an English one."""
    import torch
    from ctranslate2.converters import TransformersConverter
    from transformers import GenerationConfig, WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration

    tokens = _vocabulary(words, multilingual=language is not None)
    ids = {token: number for number, token in enumerate(tokens)}
    torch.manual_seed(0)
    model = WhisperForConditionalGeneration(
        WhisperConfig(
            vocab_size=TOKENS, d_model=width, encoder_layers=layers, decoder_layers=layers,
            encoder_attention_heads=heads, decoder_attention_heads=heads, encoder_ffn_dim=4 * width,
            decoder_ffn_dim=4 * width, pad_token_id=ids["<|endoftext|>"], bos_token_id=ids["<|endoftext|>"],
            eos_token_id=ids["<|endoftext|>"], decoder_start_token_id=ids["<|startoftranscript|>"],
        )
    )  # fmt: skip
    spoken = [_as_bytes(word) for word in words]
    # Tokens after <|startoftranscript|>; an English model gets no language and no task.
    prompt = [f"<|{language}|>", "<|transcribe|>"] if language else []
    said = [*prompt, "<|0.00|>", *spoken, f"<|{SAYS_FOR * 0.02:.2f}|>"]
    with torch.no_grad():
        embeddings = model.model.decoder.embed_tokens.weight
        embeddings.normal_()
        positions = model.model.decoder.embed_positions.weight
        positions[:] = 30 * embeddings[ids["<|endoftext|>"]]
        for place, token in enumerate(said):
            positions[place] = 30 * embeddings[ids[token]]
        if language:  # not quite sure of it
            positions[0] += 22 * embeddings[ids["<|nl|>"]]
    # Else it is written anew from the model's own configuration, which has neither of the two.
    model.generation_config = GenerationConfig(
        lang_to_id={f"<|{code}|>": ids[f"<|{code}|>"] for code in LANGUAGES},
        alignment_heads=[[layers - 1, head] for head in range(heads)],
        suppress_tokens=[], begin_suppress_tokens=[], _from_model_config=False,
    )  # fmt: skip
    source = folder / "source"
    model.save_pretrained(source)
    _save_tokenizer(source, ids)
    WhisperFeatureExtractor().save_pretrained(source)
    converter = TransformersConverter(str(source), copy_files=["tokenizer.json", "preprocessor_config.json"])
    return Path(converter.convert(str(folder / "model"), quantization=quantization))


def _vocabulary(words: Sequence[str], *, multilingual: bool) -> list[str]:
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    text = [*bytes_to_unicode().values(), *(_as_bytes(word) for word in words if len(word) > 1)]
    text += [f"~{number}" for number in range(TEXT_TOKENS - len(text) - 1)]
    text.append(MULTILINGUAL_TOKEN if multilingual else "~~")
    special = ["<|endoftext|>", "<|startoftranscript|>", *(f"<|{code}|>" for code in LANGUAGES), "<|translate|>"]
    special += ["<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>"]
    times = [f"<|{number * 0.02:.2f}|>" for number in range(TOKENS - len(text) - len(special))]
    return text + special + times


def _as_bytes(word: str) -> str:
    return word.replace(" ", "Ġ")


def _save_tokenizer(folder: Path, ids: dict[str, int]) -> None:
    from transformers import WhisperTokenizer

    text = {token: number for token, number in ids.items() if number < TEXT_TOKENS}
    special = [token for token, number in ids.items() if number >= TEXT_TOKENS]
    tokenizer = WhisperTokenizer(vocab=text, merges=[])
    tokenizer.add_special_tokens({"additional_special_tokens": special})
    assert len(tokenizer) == TOKENS, len(tokenizer)
    tokenizer.save_pretrained(folder)
    (folder / "vocab.json").write_text(json.dumps(text))
