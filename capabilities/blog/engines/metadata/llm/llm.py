"""llm: metadata by a local language model, its answer held to a schema."""

from collections.abc import Callable, Collection
from typing import Any, Self

from capabilities.blog.engines.metadata import Post
from capabilities.blog.engines.metadata.extractive.extractive import Extractive
from capabilities.blog.engines.metadata.llm.prompt import BEGINNING, LONGEST_ANSWER, prompt, schema
from capabilities.blog.engines.metadata.llm.writer import ModelWriter
from capabilities.blog.settings import MetadataSettings
from pipeline.errors import NotReady
from pipeline.settings import Settings
from pipeline.settings.fields import ModelSettings
from workers.engines import models, never
from workers.engines.languages import languages
from workers.engines.model_choice import missing, settled
from workers.engines.thread_pool import OwnThread

#: Tokens of a question at most, however much the model could read: a summary of more is no better, and takes longer.
LONGEST_QUESTION = 4_096

#: Tokens that a model must be able to read: the question without a post, a page of the post, and the answer.
SMALLEST_CONTEXT = 1_800


class Llm(ModelWriter):
    """A causal or chat model through transformers, and outlines for the form of its answer."""

    name = "llm"

    def __init__(self, settings: ModelSettings, extractive: Extractive) -> None:
        super().__init__(extractive)
        self._settings = settings
        self._thread = OwnThread(self.name)
        self._model: Any = None
        self._tokenizer: Any = None
        self._grammar: Any = None

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls(
            settled(settings, settings.of(MetadataSettings).llm, "metadata", cls.name),
            Extractive.from_settings(settings),
        )

    def readiness(self) -> str | None:
        """Return what the engine needs before it can be set up; None: nothing."""
        packages = ("torch", "transformers", "outlines", "llguidance")
        return missing(self._settings, *packages, extra="blog", family="metadata", engine="llm")

    def setup(self) -> None:
        """Load the model, once a process. Raises NotReady."""
        self._extractive.setup()
        self._thread.run(self._set_up)

    def _set_up(self) -> None:
        with models.named(str(self._settings.model)):
            self._load()
        if self._context() < SMALLEST_CONTEXT:
            raise NotReady(
                f"PRESSROOM_METADATA__LLM__MODEL={self._settings.model} reads {self._context():,} tokens; "
                f"a model of at least {SMALLEST_CONTEXT:,} is needed."
            )
        if self.gpu is not None:
            self._warm_up()

    @property
    def gpu(self) -> str | None:
        """Return the GPU whose lock its caller holds; None: it runs on the processor."""
        return models.gpu_of(self._settings)

    def _load(self) -> None:
        # Here, since they take 3 s and 330 MB.
        import llguidance.torch  # noqa: F401 - outlines would, with the first post
        import outlines
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self._tokenizer = models.load(AutoTokenizer.from_pretrained, self._settings)
        if self._tokenizer.pad_token_id is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        weights = models.weights(self._settings)
        self._model = models.place(
            models.load(AutoModelForCausalLM.from_pretrained, self._settings, **weights), self._settings
        )
        # llguidance reads the schema as it goes; outlines' own index of all tokens took 0.2 GB for a vocabulary of
        # 20,000, and large models have 150,000.
        generator: Any = outlines.Generator(
            outlines.from_transformers(self._model, self._tokenizer),
            outlines.json_schema(schema(self._extractive.taxonomy)),
            backend="llguidance",
        )
        self._grammar = generator.logits_processor

    def _warm_up(self) -> None:
        post = Post("A post", "A post has a text.", "en")
        with models.first_use(self._settings):
            self._answer(post, post.text, languages.language_of(post.title, post.text, post.language), never, most=2)

    def _context(self) -> int:
        config = self._model.config.get_text_config()
        limits = (getattr(config, "max_position_embeddings", None), self._tokenizer.model_max_length)
        # A tokenizer without a limit says 10 ** 30.
        return min(int(limit) for limit in limits if limit)

    def _ask(self, post: Post, text: str, language: languages.Language, stop: Callable[[], bool]) -> str:
        # One question at a time, by its own thread: the grammar of an answer has a state.
        return self._thread.run(lambda: self._answer(post, text, language, stop))

    def _answer(
        self,
        post: Post,
        text: str,
        language: languages.Language,
        stop: Callable[[], bool],
        *,
        most: int = LONGEST_ANSWER,
    ) -> str:
        import torch
        from transformers import StoppingCriteria, StoppingCriteriaList

        class Asked(StoppingCriteria):
            """Ends generation at the next token once the caller has stopped."""

            def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:
                return torch.full((input_ids.shape[0],), stop(), dtype=torch.bool, device=input_ids.device)

        question = self._question(post, text, language).to(self._model.device)
        self._grammar.reset()
        # llguidance compiles one line; it would need a C++ compiler on this machine.
        with torch.inference_mode(), torch.compiler.set_stance("force_eager"):
            output = self._model.generate(
                input_ids=question,
                attention_mask=torch.ones_like(question),
                logits_processor=[self._grammar],
                stopping_criteria=StoppingCriteriaList([Asked()]),
                max_new_tokens=most,
                # The likeliest token always: the same post has the same metadata.
                do_sample=False,
                temperature=None,
                top_p=None,
                top_k=None,
                pad_token_id=self._tokenizer.pad_token_id,
            )
        return str(self._tokenizer.decode(output[0, question.shape[1] :], skip_special_tokens=True))

    def _question(self, post: Post, text: str, language: languages.Language) -> Any:
        """Return the question's tokens, shape (1, n), with as much of the text as the model can read."""
        import torch

        room = min(self._context() - LONGEST_ANSWER, LONGEST_QUESTION)
        frame = len(self._tokens(post, "", language))
        tokens = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        # Text that was cut may take a few tokens more than it had.
        while len(tokens) + frame > room and tokens:
            kept = max(min(room - frame, len(tokens) - 16), 0)
            head = int(kept * BEGINNING)
            tail = tokens[len(tokens) - (kept - head) :] if kept > head else []
            text = f"{self._tokenizer.decode(tokens[:head])} … {self._tokenizer.decode(tail)}" if kept else ""
            tokens = self._tokenizer(text, add_special_tokens=False)["input_ids"] if kept else []
        return torch.tensor([self._tokens(post, text, language)[:room]])

    def _tokens(self, post: Post, text: str, language: languages.Language) -> list[int]:
        asked = prompt(post, text, language, self._extractive.taxonomy, self._signs())
        if self._tokenizer.chat_template is None:
            return list(self._tokenizer(f"{asked}\n\nJSON:\n")["input_ids"])
        # All in the user's turn: not every format has one for the system.
        turns = [{"role": "user", "content": asked}]
        asked = self._tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        # The format has the signs that start a text already.
        return list(self._tokenizer(asked, add_special_tokens=False)["input_ids"])

    def _signs(self) -> Collection[str]:
        special = {str(t) for t in self._tokenizer.added_tokens_decoder.values() if t.special}
        return special | set(self._tokenizer.all_special_tokens)
