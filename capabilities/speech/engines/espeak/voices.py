"""The voices of libespeak-ng, with ids that people can type and language tags of the usual standard (BCP 47).

`python -m capabilities.speech.engines.espeak.voices` writes the list that is shipped:
capabilities/speech/voices/espeak_voices.json.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict

from capabilities.speech.engines.espeak.libespeak import Library, LibraryVoice, load
from capabilities.speech.voices.voices import SHIPPED, Gender, Voice

#: The variant that makes a female voice of the library's voices, which are all male. Not +f2 to +f5: they have an echo
#: whose end is lost at random, so that the length of a word varies by 60 ms.
FEMALE_VARIANT = "+f1"
#: A made-up language for the library's tests, and Faroese and Karakalpak, whose dictionaries the wheel lacks.
LEFT_OUT = {"art/xex", "gmq/fo", "trk/kaa"}
#: Tags to replace the library's own, which are wrong, too broad or lack a region: ca-ba would be Catalan of Bosnia,
#: ru-cl Russian of Chile, and es is the Spanish of Spain, not of Argentina.
LANGUAGES: dict[str, tuple[str, ...]] = {
    "art/piqd": ("tlh-Piqd",),
    "gmw/en-GB-scotland": ("en-GB-scotland", "en-scotland"),
    "gmw/en-US-nyc": ("en-US-x-nyc",),
    "iro/chr": ("chr-US",),
    "roa/ca-ba": ("ca-x-balear",),
    "roa/ca-nw": ("ca-x-nw",),
    "roa/ca-va": ("ca-valencia",),
    "roa/es": ("es-ES",),
    "sit/cmn": ("cmn-CN", "zh-CN"),
    "sit/cmn-Latn-pinyin": ("cmn-Latn-pinyin", "zh-Latn-pinyin"),
    "sit/yue": ("yue-HK", "zh-HK"),
    "sit/yue-Latn-jyutping": ("yue-Latn-jyutping", "zh-Latn-jyutping"),
    "zle/ru-cl": ("ru-x-classic",),
}
#: Ids that are not the name of the voice's file.
IDS = {"gmw/en": "en-GB"}


def listed_voices(library: Library) -> Iterator[tuple[Voice, str]]:
    """Yield each voice, male and female, with the library's name of it."""
    for listed in library.voices():
        if listed.identifier not in LEFT_OUT:
            yield _voice(listed, library.sample_rate, "MALE", ""), listed.identifier
            yield _voice(listed, library.sample_rate, "FEMALE", "-female"), listed.identifier + FEMALE_VARIANT


def write_shipped() -> None:
    """Write the list that the API answers from while every worker is down."""
    lines = [json.dumps(asdict(voice), ensure_ascii=False) for voice, _ in listed_voices(load())]
    SHIPPED.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")


def _voice(listed: LibraryVoice, sample_rate: int, gender: Gender, suffix: str) -> Voice:
    voice_id = IDS.get(listed.identifier, listed.identifier.rpartition("/")[2]) + suffix
    return Voice(
        id=voice_id,
        name=voice_id,
        language_codes=LANGUAGES.get(listed.identifier) or _language_codes(listed.languages),
        ssml_gender=gender,
        natural_sample_rate_hertz=sample_rate,
        display_name=f"{listed.name}, {gender.lower()}, robotic",
        engine="espeak",
        quality="robotic",
    )


def _language_codes(languages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tags in the usual case, without those that another one begins with: en-US includes en."""
    return tuple(_cased(tag) for tag in languages if not any(other.startswith(f"{tag}-") for other in languages))


def _cased(tag: str) -> str:
    """Return a tag in the case of RFC 5646: en-GB, fa-Latn, en-GB-x-rp."""
    first, *rest = tag.split("-")
    private = rest.index("x") if "x" in rest else len(rest)
    cased = [subtag.upper() if len(subtag) == 2 else subtag.title() if len(subtag) == 4 else subtag for subtag in rest]
    return "-".join([first, *cased[:private], *rest[private:]])


if __name__ == "__main__":
    write_shipped()
