"""Voice aliases: OpenAI's names of voices, each spoken by a good local voice of the text's language."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from capabilities.speech.voices.voices import MAIN_REGION, MOST_FOR_SLOW, Gender, Voice, folded, lookup


@dataclass(frozen=True, slots=True)
class VoiceAlias:
    """A name that no voice has. `turn` is its place among the names of its gender."""

    name: str
    gender: Gender
    voices: tuple[str, ...]
    turn: int

    def pick(self, offers: Sequence[Voice], language: str, characters: int) -> Voice | None:
        """Return the local voice that speaks for it, or None.

        A natural voice of another gender is better than a robotic one of its own."""
        local = [one for one in offers if one.local and (not one.is_slow or characters <= MOST_FOR_SLOW)]
        for tag in lookup(language):
            speakers = [voice for voice in local if voice.speaks(tag)]
            for preferred in self.voices:
                for voice in speakers:
                    if voice.id == preferred:
                        return voice
            if speakers:
                return self._of(speakers, tag)
        return None

    def _of(self, speakers: Sequence[Voice], tag: str) -> Voice:
        """Return one of the best voices; the names take turns among several."""
        main = f"{tag}-{MAIN_REGION.get(tag, tag)}".lower()

        def rank(voice: Voice) -> tuple[bool, ...]:
            best = folded(voice.language_codes[0])
            is_foreign = not best.startswith(tag)
            is_other = voice.ssml_gender != self.gender
            return voice.quality != "natural", is_foreign, voice.is_slow, is_other, best not in {tag, main}

        best = min(map(rank, speakers))
        equals = [voice for voice in speakers if rank(voice) == best]
        # Robots differ by dialect: the first suits the language best.
        return equals[self.turn % len(equals)] if equals[0].quality == "natural" else equals[0]


@cache
def voice_aliases() -> Mapping[str, VoiceAlias]:
    """Return all aliases by their names, in lower case."""
    told = tomllib.loads(Path(__file__).with_name("voice_aliases.toml").read_text("utf-8"))
    turns: dict[str, int] = {}
    aliases = {}
    for name, fields in told.items():
        turn = turns.get(fields["gender"], 0)
        turns[fields["gender"]] = turn + 1
        aliases[name] = VoiceAlias(name, fields["gender"], tuple(fields["voices"]), turn)
    return aliases
