"""What blogs' software writes into posts is no text of theirs."""

import pytest

from capabilities.blog.engines.metadata.boilerplate import is_boilerplate
from capabilities.blog.engines.metadata.extractive.extractive import Extractive
from capabilities.blog.engines.metadata.plain import lines_of, plain_text, read_post


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ('{{< figure\n  src="/a.jpg"\n  alt="A cat"\n>}}\n\nText.', "Text."),
        ("{{< gallery >}}\n![a](a.jpg)\n{{< /gallery >}}\n\nText.", "Text."),
        ("{{% notice tip %}}\nTake a coat.\n{{% /notice %}}\n\n## More\n\nText.", "Take a coat.\nMore\nText."),
        ("{% highlight sql %}\nDROP INDEX a;\n{% endhighlight %}\n\nText.", "Text."),
        ('{% include figure.html url="/a.png"\n   description="A graph" %}\n\nText.', "Text."),
        ('{% figure(src="a.jpg",\n  alt="A cat") %}\nA caption.\n{% end %}\nText.', "Text."),
        ("* TOC\n{:toc}\n\nText.\n{: .note}", "Text."),
        ("[[_TOC_]]\n\nText {#id}", "Text"),
        ('{\n  "title": "x",\n  "tags": ["a"]\n}\n\nText.', "Text."),
        ("Title: My post\nDate: 2026-01-02\nTags: a, b\n\nText.", "Text."),
        ("---\ntitle: x\n...\nText.", "Text."),
        ("::: warning Careful\nIt is hot.\n:::\n\nText.", "It is hot.\nText."),
        ("import Map from './map'\n\n{/* a note */}\n\nText. ![[cat.png]] [[Page|shown]]", "Text. shown"),
        ('[et_pb_section fb_built="1"][et_pb_row][et_pb_text]Text.[/et_pb_text][/et_pb_row]', "Text."),
        ('[video src="a.mp4"]x[/video][mailerlite_form form_id=3]Text.', "Text."),
        ('<figure><img src="a.jpg"><figcaption>A cat</figcaption></figure><p>Text.</p>', "Text."),
        ('<div class="share-buttons">Tweet</div><p>Text.</p><div id="newsletter_box"><p>Sign</p></div>', "Text."),
        ('<ul><li><a href="#a">One</a></li><li><a href="#b">Two</a></li></ul><p>Text.</p>', "Text."),
        ('<p><a href="#r">Jump</a> | <a href="#p">Print</a></p><p>Text.</p>', "Text."),
        ('<p align="center"><img src="logo.svg"></p>\n\n# Title\n\n[a](https://x.example)\n\nText.', "Title\na\nText."),
        (
            "<p>Text.</p><h3>Related posts</h3><ul><li>Another</li></ul><h2>Next</h2><p>Goes on.</p>",
            "Text.\nNext\nGoes on.",
        ),
        ("Text.\n*Photo by Ann Lee on Unsplash*\nGoes on.", "Text.\nGoes on."),
        ("Text with a {{ variable }} and $x = {y}$.", "Text with a and $x = {y}$."),
    ],
)
def test_the_source_of_a_post_is_reduced_to_what_its_reader_sees(content: str, text: str) -> None:
    assert plain_text(content) == text


def test_an_article_whose_element_is_named_like_boilerplate_is_read() -> None:
    article = "<p>" + "A sentence of the article itself. " * 30 + "</p>"
    assert plain_text(f'<div class="post has-newsletter">{article}</div>').startswith("A sentence of the article")


BOILERPLATE = """
Image credit: NASA
Photo by Ann Lee on Unsplash
Bildquelle: privat
Crédit photo : Marthe
Foto: dpa
Imagen: Freepik
Share this:
Share on Facebook
By Ruth Adeyemi | Published 9:41 a.m.
Contents
Posted by Sam at 08:12 - 14 comments
Filed under: money
Jump to Recipe
Lire aussi : Le bac en cinq dates
Subscribe to our newsletter for more garden tips!
Si te ha gustado, compártelo.
© 2026 Example Ltd.
This post contains affiliate links.
(02:10) La cocina como despacho
★★★★★ 4,9 von 5 (212 Bewertungen)
"""


@pytest.mark.parametrize("line", BOILERPLATE.strip().split("\n"))
def test_credits_share_bars_and_newsletters_are_boilerplate(line: str) -> None:
    assert is_boilerplate(line)
    assert plain_text(f"<p>{line}</p><p>The text.</p>") == "The text."


TEXT = """
Photos of the old harbour hang in every bar of the town.
Share the cake with whoever comes first.
I deleted Facebook and Instagram, and nobody noticed.
Published in 1998, the book is a classic.
Images can say more than words, and often less.
Fuentes de proteína vegetal hay muchas.
By the time we arrived, the lake was frozen.
Sources disagree about the year of his birth.
Follow me to the river, said the old man.
Contents of the box were unknown.
A newsletter needs a subject line that promises one thing.
Ad blockers are older than you think.
"""


@pytest.mark.parametrize("line", TEXT.strip().split("\n"))
def test_sentences_that_begin_alike_are_text(line: str) -> None:
    assert not is_boilerplate(line)
    assert plain_text(line) == line


def test_steps_items_and_headings_are_no_prose() -> None:
    content = (
        "<p>The soup of my grandmother.</p><h2>Ingredients</h2><ul><li>Lentils</li></ul><h2>Method</h2>"
        "<p>Cook them.</p><h2>Why it works</h2><p>Vinegar helps.</p><p>Step 2: stir it.</p>"
    )
    lines = lines_of(content)
    assert [line.text for line in lines if line.is_prose] == ["The soup of my grandmother.", "Vinegar helps."]
    assert read_post("Soup", content, "en").prose == "The soup of my grandmother.\n\nVinegar helps."


@pytest.mark.parametrize(
    "content",
    [
        "{{<" * 30_000,
        "{%" * 60_000,
        "[a" * 60_000,
        '[a b="' * 20_000,
        "{% figure " * 12_000,
        "[a " + 'b="c" ' * 30_000,
        ":::tip\n" * 20_000,
        "[caption]" * 15_000,
    ],
)
def test_sources_that_never_close_what_they_open_are_read(content: str) -> None:
    assert "The end." in plain_text(f"<p>{content}</p><p>The end.</p>")


def test_no_markup_gets_into_what_is_said_of_a_post(engine: Extractive) -> None:
    content = (
        '<figure class="wide"\n  data-src="a.jpg"><img\n src="IMG_8834.jpg" alt="crackers on a tray"></figure>\n'
        '{{< figure\n src="b.jpg" alt="b" >}}\n[caption id="x"]<img src="c.jpg"> Crackers[/caption]\n'
        "<p>Crackers made of sourdough discard taste of butter and rosemary. They keep for a week in a tin.</p>"
        "<p>See IMG_8834.jpg and README.md for crackers.</p>"
    )
    made = engine.write(read_post("Crackers", content, "en"))
    assert made.excerpt.startswith("Crackers made of sourdough discard taste of butter and rosemary.")
    assert not {"src", "alt", "figure"} & set(made.tags)
    assert not any(".jpg" in tag or ".md" in tag for tag in made.tags)
