"""The voices of the catalogue, also of those models that are not here."""

from collections import Counter

import pytest

from capabilities.speech.engines.espeak.phonemes import has_voice
from capabilities.speech.engines.neural.synthesizer import catalogue_voice
from workers.models.catalogue import CatalogueModel, read_catalogue

MODELS = [model for model in read_catalogue().values() if model.family == "synthesis"]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_voices_have_ids_and_names_that_people_understand(model: CatalogueModel) -> None:
    for details in model.details["voices"]:
        language = details.get("language", model.languages[0])
        voice = catalogue_voice(model, details, sample_rate=22_050, languages=[language], is_slow=False)

        assert voice.voice.id.startswith(f"{language}-")
        assert voice.voice.id.isprintable()
        assert " " not in voice.voice.id
        assert voice.voice.display_name.startswith(f"{details['name']}, ")
        assert voice.voice.ssml_gender in {"MALE", "FEMALE", "NEUTRAL"}
        assert model.engine == "kokoro" or has_voice(language.partition("-")[0])


def test_no_two_voices_have_the_same_id_but_those_of_kokoro_s_two_models() -> None:
    counted = Counter(voice for model in MODELS for voice in model.voices)

    assert {voice for voice, count in counted.items() if count > 1} == {
        voice for model in MODELS if model.name == "kokoro-82m-japanese" for voice in model.voices
    }
    assert len({model.languages[0].partition("-")[0] for model in MODELS if model.engine == "piper"}) == 26
