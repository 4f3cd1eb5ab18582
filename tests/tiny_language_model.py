"""A language model of a few kilobytes, built on disk, that says what a test wants it to say.

It has no layers: the token that follows depends on the last one alone, so that a chain of pieces, each a token of its
own, is an answer. What a schema does not allow is not said even so; the engine's code can't tell it from another model.
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

#: How a chat is written down for it, in the manner of the usual ones.
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")

#: The last token of every question.
LAST = "\n"


def build(folder: Path, says: Sequence[str] = (), *, chat: bool = True, context: int = 8_192) -> Path:
    """Write a model that answers with these pieces, each different from the others; without any, it babbles."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    tokenizer = make_tokenizer(says, chat=chat)
    # A vocabulary is often rounded up: there are rows that stand for no token.
    size = (len(tokenizer) + 63) // 64 * 64
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")
    config = Qwen3Config(
        vocab_size=size, hidden_size=size, intermediate_size=4, num_hidden_layers=0, num_attention_heads=1,
        max_position_embeddings=context, tie_word_embeddings=False, bos_token_id=None, eos_token_id=end,
    )  # fmt: skip
    torch.manual_seed(0)
    model = Qwen3ForCausalLM(config)
    with torch.no_grad():
        model.model.embed_tokens.weight.copy_(torch.eye(size))
        chain = tokenizer.convert_tokens_to_ids([_byte_level(LAST), *says])
        for before, after in pairwise([*chain, end]) if says else ():
            model.lm_head.weight[after, before] = 10.0
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def make_tokenizer(pieces: Sequence[str], *, chat: bool) -> Any:
    """Return a tokenizer of bytes, and of these pieces."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bare = Tokenizer(models.BPE(vocab={sign: place for place, sign in enumerate(alphabet)}, merges=[]))
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bare, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    tokenizer.add_special_tokens({"additional_special_tokens": list(SPECIAL)})
    tokenizer.add_tokens([AddedToken(piece, normalized=False) for piece in pieces])
    if chat:
        tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def _byte_level(text: str) -> str:
    return "Ċ" if text == "\n" else text
