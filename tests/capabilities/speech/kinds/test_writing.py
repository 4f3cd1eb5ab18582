"""Writing: a text that the voice can't read is refused, and who sent it learns what to do."""

from dataclasses import asdict

import pytest
from processor_time import least_processor_time

from capabilities.speech.kinds.writing import LanguageNotReadable, check_readable, left_out
from capabilities.speech.voices.offered_voices import OfferedVoices
from capabilities.speech.voices.voices import Voice, shipped_voices
from pipeline.offers.offers import Offer, Offers

HEART = Voice("en-US-Heart", "Heart", ("en-US",), "FEMALE", 24_000, "Heart", "hibari")
NANAMI = Voice("ja-JP-Nanami", "Nanami", ("ja-JP",), "FEMALE", 24_000, "Nanami", "edge", local=False)
KAREEM = {"model": "piper-ar_JO-kareem", "languages": ["ar-JO"], "voices": ["ar-JO-Kareem"]}
ALPHA = {"model": "kokoro-82m", "languages": ["ja"], "voices": ["ja-JP-Alpha"]}

#: Texts that a voice of espeak for that language reads.
READ = {
    "ru": "Я люблю читать книги.",
    "sr": "Волим да читам књиге. Volim da čitam.",
    "el": "Μου αρέσει να διαβάζω.",
    "hi": "मुझे किताबें पढ़ना पसंद है।",
    "ko": "나는 책을 좋아한다.",
    "cmn": "我喜欢看书。",
    "yue": "我鍾意睇書。",
    "ja": "わたしは ほんが すきです。",
    "fa": "من دوست دارم کتاب بخوانم",
    "ur": "مجھے کتابیں پڑھنا پسند ہے",
    "ar": "أُحِبُّ قِرَاءَةَ الْكُتُبِ",
    "he": "אֲנִי אוֹהֵב לִקְרוֹא",
    "am": "መጽሐፍ ማንበብ እወዳለሁ",
    "vi": "Tôi thích đọc sách.",
    "en-US": "Ｆｕｌｌ ｗｉｄｔｈ, 𝐛𝐨𝐥𝐝 and naïve 😀",
}
UNREAD = {
    "ja": ("今日は東京で本を買いました。", "Chinese"),
    "hak": ("我歡喜看書。", "Chinese"),
    "ar": ("أحب قراءة الكتب في المساء", "Arabic"),
    "he": ("אני אוהב לקרוא ספרים", "Hebrew"),
    "th": ("ฉันชอบอ่านหนังสือ", "Thai"),
    "my": ("ကျွန်တော် စာဖတ်ရတာ ကြိုက်တယ်", "Myanmar"),
    "en-US": ("Я люблю читать книги.", "Cyrillic"),
    "es": ("我喜欢看书。", "Chinese"),
}


def voice(name: str) -> Voice:
    return next(voice for voice in shipped_voices() if voice.id == name)


def offered(*voices: Voice, fetchable: tuple[dict[str, object], ...] = ()) -> OfferedVoices:
    offers = [
        Offer("synthesis", engine, ready=True, content={
            "voices": [asdict(voice) for voice in (*voices, *shipped_voices()) if voice.engine == engine],
            "fetchable": [model for model in fetchable if str(model["model"]).startswith(engine)],
        })
        for engine in ("hibari", "piper", "kokoro", "edge", "espeak")
    ]  # fmt: skip
    return OfferedVoices(Offers(tuple(offers)))


@pytest.mark.parametrize("name", READ)
def test_what_a_voice_reads_is_let_through(name: str) -> None:
    check_readable(READ[name], voice(name), offered())


@pytest.mark.parametrize("name", UNREAD)
def test_what_a_voice_cannot_read_is_refused(name: str) -> None:
    text, writing_system = UNREAD[name]

    with pytest.raises(LanguageNotReadable, match=f"can't read {writing_system} letters") as refused:
        check_readable(text, voice(name), offered())

    assert (refused.value.status, refused.value.code) == (400, "language_not_supported")
    assert refused.value.details == {"field": "language", "writing_system": writing_system}


@pytest.mark.parametrize(
    ("text", "writing_system"),
    [
        ("ⵜⴰⵎⴰⵣⵉⵖⵜ ⵜⴳⴰ ⵜⵓⵜⵍⴰⵢⵜ", "Tifinagh"),
        ("ދިވެހި ބަސް", "Thaana"),
        ("ꦲꦏ꧀ꦱꦫꦗꦮ", "Javanese"),
        ("ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ", "Mongolian"),
    ],
)
def test_a_writing_system_that_no_voice_reads_is_refused(text: str, writing_system: str) -> None:
    with pytest.raises(LanguageNotReadable, match=f"can't read {writing_system} letters.*No voice here reads them"):
        check_readable(text, HEART, offered(HEART))


@pytest.mark.parametrize("text", ["𝐇𝐞𝐥𝐥𝐨", "5 µm", "ª º", "ℂ ℵ"])
def test_letters_that_are_signs_are_let_through(text: str) -> None:
    check_readable(text, HEART, offered(HEART))


def test_letters_that_a_voice_leaves_out_are_named() -> None:
    assert (
        left_out("日本 is Japan, λ is lambda.", HEART) == "en-US-Heart can't read Chinese letters and leaves them out."
    )
    assert left_out("Naïve Łódź, Москва, 5 µm 😀", HEART) is None
    assert left_out("日本 is Japan.", voice("en-US")) is None


def test_japanese_is_told_apart_from_chinese() -> None:
    with pytest.raises(LanguageNotReadable, match="such as language=zh"):
        check_readable("我喜欢看书。", HEART, offered(HEART))
    with pytest.raises(LanguageNotReadable, match="such as language=ja"):
        check_readable("今日は東京で本を買いました。", HEART, offered(HEART, NANAMI))


def test_a_model_that_would_read_it_is_named() -> None:
    with pytest.raises(LanguageNotReadable, match="pressroom models fetch kokoro-82m"):
        check_readable("今日は東京で本を買いました。", voice("ja"), offered(fetchable=(ALPHA,)))


def test_a_model_that_speaks_by_the_same_phonemes_is_not_named() -> None:
    with pytest.raises(LanguageNotReadable, match="PRESSROOM_SYNTHESIS__ONLINE=true"):
        check_readable("أحب قراءة الكتب في المساء", voice("ar"), offered(fetchable=(KAREEM,)))


def test_an_engine_of_a_package_has_to_say_itself_what_it_cannot_read() -> None:
    hum = Voice("en-Hum", "Hum", ("en",), "NEUTRAL", 8_000, "Hum", "hum")

    check_readable("我喜欢看书。", hum, offered(hum))


def test_a_long_text_takes_a_moment() -> None:
    text = "".join(map(chr, range(0x3400, 0x9FFF))) * 2

    assert least_processor_time(lambda: check_readable(text[:50_000], voice("cmn"), offered())) < 0.5


def test_a_foreign_word_is_let_through() -> None:
    check_readable("The city of Москва is called Moscow in English, and 東京 is called Tokyo.", HEART, offered(HEART))
