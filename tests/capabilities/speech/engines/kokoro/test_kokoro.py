"""The Kokoro engine: its voices, its phonemes, and files that are not as they should be."""

from pathlib import Path

import numpy as np
import pytest

from capabilities.speech.engines.kokoro.kokoro import Kokoro, load_style
from capabilities.speech.engines.kokoro.reading import JapaneseReader, KokoroReader, is_japanese_readable, symbols
from capabilities.speech.engines.neural.synthesizer import MOST_LOADED
from pipeline.errors import InvalidRequest, NotReady
from workers.models.store import ModelStore

VOICE = "ja-JP-Kokoro-Alpha"


def test_its_voices_are_slow_and_speak_what_can_be_read_here(kokoro: Kokoro) -> None:
    voices = {voice.id: voice for voice in kokoro.voices()}

    assert len(voices) == 5
    assert all(voice.is_slow and voice.local and voice.quality == "natural" for voice in voices.values())
    assert voices["ja-JP-Kokoro-Kumo"].ssml_gender == "MALE"
    assert voices[VOICE].speaks("en-US")
    # Kanji need a dictionary, which the extra `japanese` brings.
    assert voices[VOICE].speaks("ja") is is_japanese_readable()


def test_only_the_voices_used_last_stay_loaded(store: ModelStore) -> None:
    engine = Kokoro(store)
    engine.setup()

    loaded = [engine._voice(voice.id) for voice in engine.voices()]

    assert len(loaded) > MOST_LOADED == len(engine._loaded)
    assert engine._voice(engine.voices()[-1].id) is loaded[-1]
    assert len({id(voice._network) for voice in loaded}) == 1


@pytest.mark.parametrize(
    ("language", "text", "phonemes"),
    [
        ("en-US", "The day now goes there.", "ðə dˈA nˈW ɡOz ðˈɛɹ."),
        ("en-GB", "Poor water, there!", "pˈʊə wˈɔːtə, ðˈɛː!"),
        ("es-ES", "¿Cómo estás?", "kˈomo estˈas?"),
        ("fr-FR", "Un bon vin blanc.", "œ̃ bˈɔ̃ vˈɛ̃ blˈɑ̃."),
        ("it-IT", "Ciao!", "ʧˈao!"),
        ("en-US", "Dr. Smith stays.", "dˈɑktəɹ smˈɪθ stˈAz."),
    ],
)
def test_phonemes_are_written_as_the_network_learned_them(language: str, text: str, phonemes: str) -> None:
    assert KokoroReader(language).read(text).phonemes == phonemes


def test_every_language_of_the_catalogue_is_read(store: ModelStore) -> None:
    voices = store.catalogue["kokoro-82m"].details["voices"]

    assert {voice["language"] for voice in voices} == {*symbols()["languages"], "ja-JP"}
    assert len(voices) == 42


def test_a_japanese_voice_reads_latin_letters_as_english() -> None:
    assert JapaneseReader().read("Good day.").phonemes == KokoroReader("en-US").read("Good day.").phonemes


@pytest.mark.skipif(is_japanese_readable(), reason="the extra `japanese` is installed")
def test_japanese_is_refused_where_nothing_can_read_it(kokoro: Kokoro) -> None:
    with pytest.raises(InvalidRequest, match=r"pip install -e '\.\[japanese\]'") as refused:
        kokoro.speak("今日は良い天気です。", voice=VOICE)
    assert refused.value.code == "language_not_supported"


@pytest.mark.skipif(not is_japanese_readable(), reason="needs the extra `japanese`")
@pytest.mark.filterwarnings("ignore:open_text is deprecated")
def test_kanji_are_read() -> None:
    assert JapaneseReader().read("今日は良い天気です。").phonemes == "kʲoː βa joi teŋkʲi desɨ."


def test_a_style_comes_from_a_file_of_its_own_or_of_several(tmp_path: Path) -> None:
    style = np.arange(2 * 256, dtype=np.float32).reshape(2, 1, 256)
    style.tofile(tmp_path / "af_one.bin")
    np.savez(tmp_path / "voices.npz", af_two=style)

    assert load_style(tmp_path, "af_one").shape == load_style(tmp_path, "af_two").shape == (2, 256)


@pytest.mark.parametrize("content", [b"", b"\0" * 1_001])
def test_a_style_of_another_size_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "af_one.bin").write_bytes(content)

    with pytest.raises(NotReady, match="no style of the voice af_one"):
        load_style(tmp_path, "af_one")


def test_a_style_that_could_hold_a_program_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "voices.npz", af_one=np.array([object()]))

    with pytest.raises(NotReady, match="no style"):
        load_style(tmp_path, "af_one")
