"""Speakers: how much of mixed conversations is given to the wrong person (DER), and what telling them apart takes."""

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.quality.conversations import FRAME, RATE, Conversation, Errors, Frames, conversations, count_errors
from benchmarks.quality.conversations import read_wav as read_voice
from benchmarks.quality.listening import Floats
from benchmarks.quality.prompts import SOUNDS
from benchmarks.quality.speaking import sentences
from benchmarks.streams import load_engine
from capabilities.speech.normalization.reading import spoken_form
from capabilities.transcription.engines.speakers.encoder import VoiceEncoder
from capabilities.transcription.engines.speakers.turns import find_turns
from capabilities.transcription.handlers.speakers import MODEL
from pipeline.settings import Settings
from workers.engines import never
from workers.media.audio.pcm import encode_wav
from workers.media.audio.track import Track
from workers.models.fetching import fetch
from workers.models.store import ModelStore

#: Utterances of each voice, and bytes of a prompt from which it is more than a word.
UTTERANCES, LEAST_BYTES = 6, 25_000
SECONDS = 150.0
#: The engine whose voices are English people's, and what brings it.
ENGINE = "kokoro"


def speakers_rows(folder: Path) -> Iterator[tuple[str, ...]]:
    """Yield a table's head and rows. Half of the made voices are `unseen`: nothing was chosen by them."""
    yield ("voices", "conversation", "errors", "missed", "invented", "confused", "core s a minute")
    encoder = _encoder()
    made = made_voices(folder)
    names = sorted(made)
    sets: list[tuple[str, Mapping[str, Sequence[Floats]], Sequence[int]]] = [
        ("telephone prompts", prompt_voices(), (2, 3, 4)),
        ("made, seen", {name: made[name] for name in names[::2]}, (1, 2, 3, 4, 5, 6)),
        ("made, unseen", {name: made[name] for name in names[1::2]}, (1, 2, 3, 4, 5, 6)),
    ]
    for name, voices, counts in sets:
        fitting = [count for count in counts if count <= len(voices)]
        judged = [(one, *judge(one, encoder)) for one in conversations(voices, counts=fitting, seconds=SECONDS, seed=3)]
        for group in dict.fromkeys(part for one, *_ in judged for part in (*one.name.split(", "), "all")):
            chosen = [entry for entry in judged if group in (*entry[0].name.split(", "), "all")]
            total = sum((errors for _, errors, _ in chosen), Errors(0, 0, 0, 0))
            minutes = sum(len(one.sound) for one, *_ in chosen) / RATE / 60
            shares = (total.rate, *(one / total.speech for one in (total.missed, total.invented, total.confused)))
            took = sum(seconds for *_, seconds in chosen) / minutes
            yield (name, group, *(f"{100 * share:.1f} %" for share in shares), f"{took:.2f}")


def judge(conversation: Conversation, encoder: VoiceEncoder) -> tuple[Errors, float]:
    """Return the errors in a conversation whose number of voices is known, and the seconds of a core that it took."""
    count = conversation.spoken.shape[1]
    began = time.process_time()
    with Track(RATE) as track:
        track.append(np.rint(np.clip(conversation.sound, -1, 1) * 32_767).astype("<i2").tobytes())
        turns = find_turns(track, encoder, count, stop=never, looked=lambda seconds: None)
    took = time.process_time() - began
    found: Frames = np.zeros((len(conversation.spoken), count), bool)
    for turn in turns:
        found[round(turn.start * RATE / FRAME) : round(turn.end * RATE / FRAME), turn.speaker] = True
    return count_errors(conversation.spoken, found), took


def prompt_voices() -> dict[str, list[Floats]]:
    """Return the people whose prompts Debian ships; those packages that are installed."""
    folders = sorted(path for path in SOUNDS.glob("*_*_*") if path.is_dir())
    files = {
        folder.name: [file for file in sorted(folder.glob("*.wav")) if file.stat().st_size > LEAST_BYTES][:60]
        for folder in folders
        if not folder.name.startswith("es_MX")  # the same person as in English
    }
    return {name: [read_voice(file) for file in found] for name, found in files.items() if found}


def made_voices(folder: Path) -> dict[str, list[Floats]]:
    """Return what the English voices of an engine say; each says something else."""
    engine = load_engine(ENGINE)
    voices = [voice for voice in engine.voices() if voice.language_codes[0].startswith("en")]
    texts = sentences(200, "en")
    made: dict[str, list[Floats]] = {}
    for place, voice in enumerate(voices):
        for number in range(UTTERANCES):
            text = texts[(place * 17 + number * 5) % len(texts)]
            file = folder / f"{voice.id}-{number}.wav"
            file.write_bytes(encode_wav(engine.speak(spoken_form(text, voice.language_codes[0]), voice=voice.id)))
            made.setdefault(voice.id, []).append(read_voice(file))
    return made


def _encoder() -> VoiceEncoder:
    settings = Settings()
    store = ModelStore(settings)
    model = store.catalogue[MODEL]
    folder = store.folder(model) or fetch(store, model, stall_seconds=settings.models.stall_seconds)
    assert folder is not None, f"`pressroom models fetch {MODEL}` brings it"
    return VoiceEncoder(folder)
