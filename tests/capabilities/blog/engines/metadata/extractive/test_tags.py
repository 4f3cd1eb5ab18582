"""Tags are whole names of what a post is about."""

import pytest
import regex
from examples.posts import POSTS

from capabilities.blog.engines.metadata.extractive.extractive import Extractive
from capabilities.blog.engines.metadata.plain import read_post
from workers.engines.languages.languages import language_of

#: Makes a text long enough for its words to be told apart by how often they stand there; of no subject.
MORE = {
    "en": " Nobody in the room said a word about it, and that was all there was to it on that day in the end." * 3,
    "it": " Nessuno nella stanza ha detto una parola, e questo è stato tutto quel giorno, alla fine dei conti." * 4,
    "es": " Nadie en la sala dijo nada sobre ello, y eso fue todo lo que hubo aquel día, al final de cuentas." * 4,
    "de": " Niemand sagte etwas dazu, und das war an jenem Tag alles, was es am Ende darüber zu sagen gab." * 4,
}


@pytest.mark.parametrize(
    ("title", "content", "language", "wanted", "unwanted"),
    [
        (
            "What I Learned from a Year of Remote Work",
            "Last January I gave up my desk at the office. Remote work needs hard boundaries, and my colleagues respect"
            " them. A badly phrased request costs the team an hour, so I write every request for my colleagues with"
            " care. I learned it in January. Remote work is lonely; I stopped counting when it stops being fun.",
            "en",
            {"remote work", "colleagues"},
            {"learned", "january", "stops", "remote", "work"},
        ),
        (
            "Understanding the Tides",
            "The tides follow the moon. The moon pulls the sea, and the sea rises on Tuesday as on Thursday.",
            "en",
            {"tides", "moon"},
            {"understanding", "tuesday", "thursday"},
        ),
        (
            "Come organizzare la giornata senza impazzire",
            "Lo smart working funziona con orari chiari. Lo smart working dura poco.",
            "it",
            {"smart working"},
            {"impazzire", "giornata", "dura"},
        ),
        (
            "איך לאפות לחם מחמצת בבית",
            "לחם מחמצת דורש קמח ומים. המחמצת חיה. האכילו את המחמצת בקמח.",
            "he",
            {"לחם מחמצת", "קמח"},
            {"המחמצת", "בבית", "איך"},
        ),
        ("घर पर योग कैसे शुरू करें", "योग के लिए आपको चटाई चाहिए। योग से तनाव कम होता है।", "hi", {"योग"}, {"आपको", "कैसे", "शुरू"}),
        (
            "전기차 배터리를 오래 쓰는 방법",
            "전기차 배터리는 관리가 중요합니다. 배터리 충전 습관이 중요합니다.",
            "ko",
            {"전기차 배터리"},
            {"오래", "쓰는"},
        ),
        (
            "สูตรต้มยำกุ้ง",
            "ต้มยำกุ้งเป็นอาหารไทยที่คนทั่วโลกรู้จัก มี ตะไคร้ ข่า และพริก",
            "th",
            {"ตะไคร้", "สูตรต้มยำกุ้ง"},
            {"และพริก", "ต้มยำกุ้งเป็นอาหารไทยที่คนทั่วโลกรู้จัก"},
        ),
        (
            "How I Paid Off My Debt",
            "I had a loan for the car and a student loan. The loans cost me a lot, and the loans and the debt grew.",
            "en",
            {"debt", "loan"},
            {"loans", "paid"},
        ),
        (
            "猫の爪切りを嫌がらせないコツ",
            "猫の爪切りは、眠そうなときが狙い目です。爪切りとおやつを結びつけると、猫は慣れます。",
            "ja",
            {"爪切り"},
            {"狙"},
        ),
        (
            "新手养猫必读",
            "小猫怕生。先给小猫准备猫砂盆，小猫会自己用猫砂盆。",
            "zh",
            {"小猫", "猫砂"},
            {"必读", "新手"},
        ),
        (
            "Elden Ring: Why You Keep Dying",
            "Nobody wins in Elden Ring at first. A boss kills you, and then another boss does." + MORE["en"],
            *("en", {"elden ring"}, {"elden", "ring"}),
        ),
        (
            "How “Quiet Quitting” Became a Phrase",
            "“Quiet quitting” does not mean leaving a job. The job is done, and no more." + MORE["en"],
            *("en", {"quiet quitting"}, {"quitting", "quiet"}),
        ),
        (
            "INTERMITTENT FASTING: WHAT WE KNOW",
            "Intermittent fasting is eating in a window of eight hours. Most doctors say little of it." + MORE["en"],
            *("en", {"intermittent fasting"}, {"intermittent", "fasting"}),
        ),
        (
            "How to Tune a Guitar by Ear",
            "A guitar goes out of tune. Every guitarist tunes the guitar, and the guitarist hears it." + MORE["en"],
            *("en", {"guitar"}, {"guitarist"}),
        ),
        (
            "An Interview on Running a Bookstore",
            "A bookstore lives on recommendations. Nobody hired me, so I opened the bookstore." + MORE["en"],
            *("en", {"bookstore"}, {"running"}),
        ),
        (
            "How to Brew Better Coffee",
            "Good coffee starts with fresh beans.\n\n## The Best Way To Grind Your Beans\n\nGrind the beans late.\n\n"
            "## Three Common Mistakes To Avoid\n\nDo not guess.\n\n## Final Thoughts And Next Steps\n\n" + MORE["en"],
            *("en", {"coffee"}, {"best way", "common mistakes", "next steps", "final thoughts"}),
        ),
        (
            "Una semana en Oaxaca",
            "Oaxaca es una ciudad. Monte Albán se recorre en tres horas, y en Oaxaca se come bien." + MORE["es"],
            *("es", {"oaxaca"}, {"albán"}),
        ),
        (
            "Quattro rifugi nelle Dolomiti",
            "Nelle Dolomiti i rifugi chiudono. Il rifugio Auronzo resta aperto: il rifugio ha una stufa." + MORE["it"],
            *("it", {"rifugi"}, {"rifugio"}),
        ),
        (
            "Yoga gegen Rückenschmerzen",
            "Der Rücken leidet. Rückenschmerzen kommen vom Sitzen, und der Rücken mag kein Sitzen." + MORE["de"],
            *("de", {"rückenschmerzen"}, {"rücken", "schmerzen"}),
        ),
        (
            "Как выбрать палатку для похода",
            "Палатка для похода должна быть лёгкой и не пропускать воду. Для двоих подойдёт модель весом до двух"
            " килограммов. Дуги прочнее стеклопластика. Перед походом поставьте палатку дома.",
            *("ru", {"похода"}, {"должна", "подойдёт", "модель", "двоих"}),
        ),
        (
            "Så bygger du en enkel odlingslåda",
            "En odlingslåda är det enklaste sättet att börja odla. Du behöver fyra brädor och en solig plats. Fyll"
            " lådan med jord. Täck jorden med gräsklipp så att den inte torkar ut.",
            *("sv", {"odlingslåda"}, {"bygger", "enklaste", "sättet", "solig"}),
        ),
        (
            "Cách nấu phở bò tại nhà",
            "Phở bò là món ăn nổi tiếng. Nước dùng được ninh từ xương bò trong sáu giờ. Chan nước dùng thật nóng.",
            *("vi", {"nước dùng"}, {"nước", "dùng", "nấu"}),
        ),
        (
            "Zelf brood bakken zonder machine",
            "Je hebt alleen bloem, water, gist en zout nodig. Laat het deeg een uur rijzen. Een hete oven zorgt voor"
            " een knapperige korst. Snijd het brood pas aan als het is afgekoeld.",
            *("nl", {"brood"}, {"het"}),
        ),
        (
            "株式投資の始め方",
            "株式投資は少額から始められます。毎月一万円の積立投資なら大丈夫です。毎月一万円から始めましょう。",
            *("ja", {"株式投資"}, {"毎月一万円"}),
        ),
    ],
)
def test_tags_are_names_and_no_verbs_halves_dates_or_second_forms(
    title: str, content: str, language: str, wanted: set[str], unwanted: set[str], engine: Extractive
) -> None:
    tags = set(engine.write(read_post(title, content, language)).tags)
    assert wanted <= tags
    assert not unwanted & tags


def test_tags_that_fill_up_are_in_the_posts_language(engine: Extractive) -> None:
    for title, language, letters in (("כלב", "he", "Hebrew"), ("מוסיקה", "he", "Hebrew"), ("กาแฟ", "th", "Thai")):
        made = engine.write(read_post(title, None, language))
        assert all(regex.fullmatch(rf"[\p{{{letters}}}\p{{M}} ׳]+", tag) for tag in made.tags), made.tags


@pytest.mark.parametrize(
    ("title", "content", "language", "tag", "no_tags"),
    [
        (
            "Le piste ciclabili di Milano funzionano davvero?",
            "Negli ultimi anni la città ha costruito settanta chilometri di piste ciclabili. I ciclisti sono aumentati,"
            " ma gli incidenti agli incroci non diminuiscono. Secondo il Politecnico, il problema sono le corsie"
            " disegnate solo con la vernice. Dove c'è un cordolo, gli scontri con le auto calano della metà. I"
            " commercianti di corso Buenos Aires, che temevano di perdere clienti, chiedono più rastrelliere.",
            *("it", "buenos aires", {"funzionano", "davvero", "buenos", "aires"}),
        ),
        (
            "Should You Adopt a Senior Dog?",
            "Senior dogs sleep well. Most of the senior dogs in a shelter know the leash. " * 5,
            *("en", "senior dog", {"senior", "dog"}),
        ),
        (
            "فوائد المشي لصحة القلب",
            "المشي مفيد لصحة القلب. يحتاج الإنسان إلى المشي كل يوم، ويقلل المشي من خطر الإصابة بأمراض القلب. " * 4,
            *("ar", "صحة القلب", {"لصحة", "لصحة قلب", "يحتاج", "بأمراض"}),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) == 2 else "",
)
def test_tags_are_whole_names(
    title: str, content: str, language: str, tag: str, no_tags: set[str], engine: Extractive
) -> None:
    tags = engine.write(read_post(title, content, language)).tags
    assert {tag, f"{tag}s"} & {*tags}, tags
    assert not no_tags & {*tags}, tags


def test_turkish_letters_are_made_small_as_turkish_does(engine: Extractive) -> None:
    made = engine.write(read_post("IŞIK ve İstanbul'da Gezi", None, "tr"))
    assert {"istanbul", "ışık"} <= {*made.tags}, made.tags


@pytest.mark.parametrize("language", ["en", "es", "fr", "de", "pt", "it"])
def test_tags_are_no_stop_words_and_no_numbers(language: str, engine: Extractive) -> None:

    for post in POSTS:
        if post.language == language:
            known = language_of(post.title, post.content, language)
            for tag in engine.write(read_post(post.title, post.content, language)).tags:
                first, *_, last = *tag.split(), tag.split()[-1]
                assert first not in known.determiners | known.subjects
                assert last not in known.determiners | known.subjects
                assert not tag.isdigit()


@pytest.mark.parametrize(
    ("title", "content", "language", "unwanted"),
    [
        (
            "What Bitcoin Did Next",
            "Bitcoin captures the attention of banks. Bitcoin captures the market." + MORE["en"],
            *("en", {"bitcoin captures", "captures"}),
        ),
        (
            "A new library for the town",
            "The library opens in May. Maureen Okafor asked for it, and Maureen Okafor was heard." + MORE["en"],
            *("en", {"maureen okafor", "maureen", "okafor"}),
        ),
        (
            "Choisir une distribution",
            "Il faut changer de distribution un jour. Changer de distribution prend une heure.",
            *("fr", {"changer de distribution"}),
        ),
        ("大理去丽江", "这两座古城很美。大理是座古城，丽江也是座古城。", "zh", {"座古城"}),
        (
            "電池を長持ちさせる",
            "バッテリー長持ちの方法。バッテリー長持ちは困難な仕事、困難な道。",
            "ja",
            {"バッテリー長持", "困難"},
        ),
    ],
)
def test_tags_are_nouns_and_no_private_names(
    title: str, content: str, language: str, unwanted: set[str], engine: Extractive
) -> None:
    assert not unwanted & set(engine.write(read_post(title, content, language)).tags)
