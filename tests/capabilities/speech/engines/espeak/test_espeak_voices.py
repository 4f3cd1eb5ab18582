"""The voices that espeak has, and the list of them that is shipped."""

import subprocess
import sys

from sound import pitches

from capabilities.speech.voices.voices import pick_voice, shipped_voices

ARRIVAL = "Where are we now, and when will many more arrive?"


def test_the_shipped_list_is_what_the_library_says(espeak):
    # When a new release of the library changes it: python -m capabilities.speech.engines.espeak.espeak
    assert list(shipped_voices()) == espeak.voices()


def test_every_voice_speaks(espeak):
    for voice in espeak.voices():
        sound = espeak.speak("Hello. 1, 2", voice=voice.id)

        assert sound.sample_rate == voice.natural_sample_rate_hertz
        assert sound.duration.total_seconds() > 0.3


def test_every_language_code_picks_a_voice_that_speaks_it():
    for voice in shipped_voices():
        for code in voice.language_codes:
            assert pick_voice(shipped_voices(), voice_name=None, language=code).speaks(code)


def test_a_womans_voice_is_higher(espeak):
    def median_pitch(voice: str, near: float) -> float:
        _, found = pitches(espeak.speak(ARRIVAL, voice=voice), near)
        return float(sorted(found[found > 0])[len(found[found > 0]) // 2])

    assert median_pitch("en-US-female", 177) > 1.5 * median_pitch("en-US", 100)


def test_a_folder_without_voices_is_not_ready(tmp_path):
    # In a process of its own: the library's state is global, and this breaks it.
    program = (
        "import sys, pathlib; from pipeline.errors import NotReady\n"
        "from capabilities.speech.engines.espeak import libespeak\n"
        "library, _ = libespeak.find()\n"
        "try: libespeak.Library(library, pathlib.Path(sys.argv[1]))\n"
        "except NotReady as error: assert 'Reinstall' in error.message; sys.exit(7)"
    )

    assert subprocess.run([sys.executable, "-c", program, str(tmp_path)], stderr=subprocess.DEVNULL).returncode == 7
