"""Reading: what is said for a written text, and that ordinary prose is left alone."""

import re

import pytest
from examples.posts import POSTS
from hypothesis import given, settings
from hypothesis import strategies as st
from processor_time import least_processor_time

from capabilities.speech.normalization.language import SpokenLanguage
from capabilities.speech.normalization.reading import read, spoken_form
from capabilities.speech.normalization.sentences import split_text

#: Language, what is written, what is said.
ROWS = [
    ("en", "They pay $100k/year.", "They pay one hundred thousand dollars per year."),
    ("en", "It cost $10 million.", "It cost ten million dollars."),
    ("en", "$1.25 million, £1.2 trillion", "one point two five million dollars, one point two trillion pounds"),
    ("en", "$5-10 million", "five to ten million dollars"),
    ("en", "$2.50-$5.00", "two dollars and fifty cents to five dollars"),
    ("en", "£1.50–£2, $0.5-$1", "one pound and fifty pence to two pounds, zero point five dollars to one dollar"),
    ("de", "1,50–2,50 €", "ein Euro fünfzig bis zwei Euro fünfzig"),
    ("en", "$-5, -$5", "minus five dollars, minus five dollars"),
    ("en", "2 1/2 cups, 2½ cups", "2 and one half cups, 2 and one half cups"),
    ("en", "2 1/2 kg, 1/2 kg", "2 and one half kg, one half kg"),
    ("de", "2 1/2 Tassen", "2 und ein halb Tassen"),
    ("en", "One.\n***\nTwo.\n\n* * *\nThree.\n---\n", "One.\n\nTwo.\n\n\nThree.\n\n"),
    ("en", "One.\r\n---\r\nTwo.", "One.\r\n\nTwo."),
    ("en", "___", ""),
    ("en", "𝐇𝐞𝐥𝐥𝐨 Ｗｏｒｌｄ", "Hello World"),
    ("en", "(c. 1850)", "(circa 1850)"),
    ("en", "€3.50 and £1", "three euros and fifty cents and one pound"),
    ("en", "$1.01, $0.99", "one dollar and one cent, ninety-nine cents"),
    ("en", "R$ 20, USD 100, 100 EUR", "twenty reais, one hundred US dollars, one hundred euros"),
    ("en", "$3.49/gallon", "three dollars and forty-nine cents per gallon"),
    ("en", "a 28km run", "a twenty-eight kilometers run"),
    ("en", "a 10-km race", "a ten kilometer race"),
    ("en", "200lb, 1 lb", "two hundred pounds, one pound"),
    ("en", "190 ºC, -40°F", "one hundred and ninety degrees Celsius, minus forty degrees Fahrenheit"),
    ("en", "5 m² at 60 km/h", "five square meters at sixty kilometers per hour"),
    ("en", "10% of 3 GB", "ten percent of three gigabytes"),
    ("en", "3.5 km; 10–20 km", "three point five kilometers; ten to twenty kilometers"),
    ("en", "on 2026-11-22", "on November twenty-second, twenty twenty-six"),
    ("en", "11/22/2026", "November twenty-second, twenty twenty-six"),
    ("en", "Jan. 5th, 2020", "January fifth, 2020"),
    ("en", "5 Dec 2021", "5 December 2021"),
    ("en", "at 3:30 pm. Then", "at three thirty p.m. Then"),
    ("en", "15:30, 9:05, 10:00", "fifteen thirty, nine oh five, ten o'clock"),
    ("en", "9am-5pm", "nine a.m. to five p.m."),
    ("en", "Open 9:00-17:00", "Open nine o'clock to seventeen o'clock"),
    ("en", "Henry VIII met Louis XIV.", "Henry the eighth met Louis the fourteenth."),
    ("en", "World War II, Chapter IV, Rocky III", "World War two, Chapter four, Rocky three"),
    ("en", "~5 people", "about 5 people"),
    ("en", "and/or, 24/7, 1/2, input/output", "and or, twenty-four seven, one half, input output"),
    ("en", "Call (415) 555-2671.", "Call four one five, five five five, two six seven one."),
    ("en", "+44 20 7946 0958", "plus four four, two zero, seven nine four six, zero nine five eight"),
    ("en", "See https://example.com/blog.", "See example dot com slash blog."),
    ("en", "www.foo.co.uk or acme.io/my-page", "www dot foo dot co dot u k or acme dot i o slash my dash page"),
    ("en", "https://example.com/search?q=1&page=2", "example dot com"),
    ("en", "jane.doe@my-site.org", "jane dot doe at my dash site dot org"),
    ("en", "Tom vs. Bob, No. 5, St. Mary", "Tom versus Bob, number 5, Saint Mary"),
    ("en", "Prof. Lee, e.g. here, i.e. there, etc.", "Professor Lee, for example here, that is there, et cetera."),
    ("en", "#5, #news, R&D, @bob", "number 5, hashtag news, R and D, at bob"),
    ("en", "2 + 2 = 4", "2 plus 2 equals 4"),
    ("en", "1990-2000, pp. 10-12", "1990 to 2000, pages 10 to 12"),
    ("en", "1st, 22nd, 100th", "first, twenty-second, one hundredth"),
    ("en", "version 3.14.2", "version 3 point 14 point 2"),
    ("en", "Nice 😀👍🏻!", "Nice!"),
    ("en", "# Title\n* **bold** [text](https://x.com/a)", "Title\nbold text"),
    ("es", "$100k/año", "cien mil dólares por año"),
    ("es", "3,50 €, 1 €", "tres euros con cincuenta céntimos, un euro"),
    ("es", "$10 millones", "diez millones de dólares"),
    ("es", "21 km, 200 lb", "veintiún kilómetros, doscientas libras"),
    ("es", "190 ºC, 10-20 %", "ciento noventa grados Celsius, diez a veinte por ciento"),
    ("es", "1.234,5 km", "mil doscientos treinta y cuatro coma cinco kilómetros"),
    ("es", "2026-11-22", "veintidós de noviembre de dos mil veintiséis"),
    ("es", "1/12/2026", "uno de diciembre de dos mil veintiséis"),
    ("es", "a las 15:30", "a las quince y treinta"),
    ("es", "Luis XIV, Felipe VI, Isabel II", "Luis catorce, Felipe sexto, Isabel segunda"),
    ("es", "siglo XXI, capítulo IV", "siglo veintiuno, capítulo cuatro"),
    ("es", "el 1º y la 2ª, el 3er nivel", "el primero y la segunda, el tercer nivel"),
    ("es", "Sr. Pérez, Dra. Gómez", "señor Pérez, doctora Gómez"),
    ("es", "EE. UU., p. ej. hoy", "Estados Unidos, por ejemplo hoy"),
    ("es", "+34 612 34 56 78", "más tres cuatro, seis uno dos, tres cuatro, cinco seis, siete ocho"),
    ("es", "ana@ejemplo.com", "ana arroba ejemplo punto com"),
    ("es", "y/o, núm. 5, ~5", "y o, número 5, unos 5"),
    ("fr", "100 k€/an, 2 M€", "cent mille euros par an, deux millions d'euros"),
    ("fr", "3,50 €, 10 000 €", "trois euros cinquante, dix mille euros"),
    ("fr", "28 km, 190 °C", "vingt-huit kilomètres, cent quatre-vingt-dix degrés Celsius"),
    ("fr", "1 234,5 km", "mille deux cent trente-quatre virgule cinq kilomètres"),
    ("fr", "à 15h30, 15 h 30, 15:30", "à quinze heures trente, quinze heures trente, quinze heures trente"),
    ("fr", "de 9h-17h, 21 h", "de neuf heures à dix-sept heures, vingt et une heures"),
    ("fr", "le 22/11/2026", "le vingt-deux novembre deux mille vingt-six"),
    ("fr", "2026-12-01", "premier décembre deux mille vingt-six"),
    ("fr", "Louis XIV, François Ier", "Louis quatorze, François premier"),
    ("fr", "le XIXe siècle", "le dix-neuvième siècle"),
    ("fr", "1er, 1re, 2e, 3ème", "premier, première, deuxième, troisième"),
    ("fr", "M. Dupont et Mme Durand", "Monsieur Dupont et Madame Durand"),
    ("fr", "06 12 34 56 78", "zéro six, un deux, trois quatre, cinq six, sept huit"),
    ("fr", "n° 5, 24h/24", "numéro 5, vingt-quatre heures sur vingt-quatre"),
    ("fr", "jean@exemple.fr", "jean arobase exemple point f r"),
    ("fr-CH", "90 km", "nonante kilomètres"),
    ("de", "3,50 €, 10 Mio. €", "drei Euro fünfzig, zehn Millionen Euro"),
    ("de", "100.000 €/Jahr", "einhunderttausend Euro pro Jahr"),
    ("de", "1 km, 190 °C", "ein Kilometer, einhundertneunzig Grad Celsius"),
    ("de", "am 24. Dezember", "am vierundzwanzigsten Dezember"),
    ("de", "am 22.11.2026", "am zweiundzwanzigsten November zweitausendsechsundzwanzig"),
    ("de", "2026-11-22", "zweiundzwanzigster November zweitausendsechsundzwanzig"),
    ("de", "um 15:30 Uhr, 15:00 Uhr", "um fünfzehn Uhr dreißig, fünfzehn Uhr"),
    ("de", "im 19. Jahrhundert, der 3. Mann", "im neunzehnten Jahrhundert, der dritte Mann"),
    ("de", "in der 3. Woche, Ende der 2. Runde", "in der dritten Woche, Ende der zweiten Runde"),
    ("de", "z. B. das, d. h. jenes, usw.", "zum Beispiel das, das heißt jenes, und so weiter."),
    ("de", "Dr. Müller, Prof. Meier", "Doktor Müller, Professor Meier"),
    ("de", "1990", "neunzehnhundertneunzig"),
    ("de", "Kapitel IV, § 5", "Kapitel vier, Paragraf 5"),
    ("de", "info@beispiel.de", "info ät beispiel Punkt d e"),
    ("de", "030 123456", "null drei null, eins zwei drei vier fünf sechs"),
    ("de", "und/oder, 3,5 kg", "und oder, drei Komma fünf Kilogramm"),
    ("pt", "R$ 20, R$ 3,50", "vinte reais, três reais e cinquenta centavos"),
    ("pt", "R$ 10 milhões", "dez milhões de reais"),
    ("pt", "28 km, 200 lb, 2 h", "vinte e oito quilômetros, duzentas libras, duas horas"),
    ("pt", "22/11/2026", "vinte e dois de novembro de dois mil e vinte e seis"),
    ("pt", "15h30, 15h", "quinze e trinta, quinze horas"),
    ("pt", "século XXI, Dom Pedro II", "século vinte e um, Dom Pedro segundo"),
    ("pt", "1º, 2ª", "primeiro, segunda"),
    ("pt", "Exmo. Sr. João, Dra. Ana", "excelentíssimo senhor João, doutora Ana"),
    ("pt", "(11) 91234-5678", "um um, nove um dois três quatro, cinco seis sete oito"),
    ("pt", "nº 5, 10%", "número 5, dez por cento"),
    ("pt", "ana@exemplo.com.br", "ana arroba exemplo ponto com ponto b r"),
    ("pt", "190 °C", "cento e noventa graus Celsius"),
    ("pt", "1990-2000, e/ou", "1990 a 2000, e ou"),
    ("pt-BR", "16 km", "dezesseis quilômetros"),
    ("pt-PT", "16 km", "dezasseis quilômetros"),
    ("it", "3,50 €, € 5", "tre euro e cinquanta centesimi, cinque euro"),
    ("it", "$10 milioni", "dieci milioni di dollari"),
    ("it", "28 km, 1 km, 2 h", "ventotto chilometri, un chilometro, due ore"),
    ("it", "22/11/2026", "ventidue novembre duemilaventisei"),
    ("it", "1/12/2026", "primo dicembre duemilaventisei"),
    ("it", "alle 15:30", "alle quindici e trenta"),
    ("it", "Luigi XIV, Elisabetta II", "Luigi quattordicesimo, Elisabetta seconda"),
    ("it", "XX secolo", "ventesimo secolo"),
    ("it", "1º, 2ª", "primo, seconda"),
    ("it", "Sig. Rossi, Dott.ssa Bianchi", "signor Rossi, dottoressa Bianchi"),
    ("it", "n. 5, pag. 3", "numero 5, pagina 3"),
    ("it", "tel. 02 1234567", "telefono zero due, uno due tre quattro cinque sei sette"),
    ("it", "e/o, 10%", "e o, dieci percento"),
    ("it", "190 °C", "centonovanta gradi Celsius"),
    ("it", "anna@esempio.it", "anna chiocciola esempio punto i t"),
]

#: What might be mistaken for something else.
LEFT_ALONE = {
    "en": [
        "Take vitamin c. 12 pills a day.",
        "He said no. 10 minutes later he left.",
        "It is 10 - 12 - 15, 21/3.",
        "I mix a CD with Malcolm X, MD, in Washington, DC; he said no. Then I left.",
        "The 1970s, the '80s, an iPhone 5s, 5G, 4K, 3D, size XL, COVID-19, F-16 and a 747-400.",
        "On 05/06/2026 he was 5'2 tall at 5 in the morning; ISBN 978-3-16-148410-0.",
        "1,234.5 and 10,000 and 1990 are read well; so are 50/50 and 3-1. He is 21. She isn't.",
        "Wait...what? file.py, README.md, snake_case_name, a*b*c, C++ and usr/bin/env.",
        "At that level I tried 786 TRY ROOMS in falcon.App at 00:30. Part I like best.",
        "Henry I think you should call. Room 101, Apt. 5B. J.R.R. Tolkien. The XX.",
    ],
    "es": ["Mi CD es de 1990. Vivo en la calle 5, con 1.234,5 puntos. Los 3 vimos a D'Artagnan. 912 345 678."],
    "fr": [
        "PowerPC 821/850/860, p.es, ISBN 2-7654-1005-4.",
        "J'ai 1 234,5 points depuis 1990. L'an 2000 : 3 amis, un CD, un t-shirt. Va-t-il ? C'est-à-dire oui.",
    ],
    "de": ["Er ist 21. Sie auch. Ich habe 1.234,5 Punkte, 3 CDs und 2 E-Mails. Die 12 kamen um 9 Uhr."],
    "pt": ["Meu CD tem 12 faixas. Em 1990 fiz 1.234,5 pontos. Guarda-chuva, bem-vindo, dá-me."],
    "it": ["A 16 l'area è 0x37. Il mio CD ha 12 brani. Nel 1990 ho fatto 1.234,5 punti. L'amico, un'ora, c'è."],
    "ja": ["2026年11月22日、$100kと28kmとhttps://example.com"],
    "nl": ["Dhr. Jansen betaalde $100k voor 28km."],
}

#: Repeated until they are long, as are those below.
ORDINARY = "The bridge, which was built in 1903, is 1,250 m long and cost $5.2 million; it opens at 9:30. "
HOSTILE = [
    "1", "/", ".", "$", "1.", "1,", "1/", "1-", "a/", "a.", "a.b@", ".a", "12:", "*", "_", "`", "[", "[a](", "](",
    "http://", "www.", "#", "+1", "(1", "XI", "1k", "$1k/", "°", "~", "&", "&a", "😀", "--", "1–", "a-", "1e", "x@x.",
    "1 ", "1\u00a0", " $", "Mr. ", "Henry I", "Aa II ", "1 + ", "5 km", "\n# ", "am 1. ",
]  # fmt: skip


@pytest.mark.parametrize(("language", "written", "spoken"), ROWS, ids=[f"{row[0]}-{row[1][:20]}" for row in ROWS])
def test_what_is_said_for_a_text(language, written, spoken):
    assert spoken_form(written, language) == spoken


@pytest.mark.parametrize("language", LEFT_ALONE)
def test_what_is_not_sure_is_left_alone(language):
    for text in LEFT_ALONE[language]:
        assert spoken_form(text, language) == text


@pytest.mark.parametrize("language", ["en", "es", "fr", "de", "pt", "it", "ja"])
def test_ordinary_prose_is_left_alone(language):
    contents = [post.content for post in POSTS if post.language == language]
    prose = [sentence for text in contents for sentence in split_text(text, limit=1_000, language=language)]
    ordinary = [sentence for sentence in prose if not re.search(r"[*#@<>`\[\]/_©&]|Ltd\.", sentence)]

    assert [spoken_form(sentence, language) for sentence in ordinary] == ordinary
    assert ordinary


def test_what_a_rule_fails_at_is_read_as_it_is_written(monkeypatch):
    monkeypatch.setattr(SpokenLanguage, "words", lambda *_, **__: {}["0"])

    assert spoken_form("It costs $5 & more.", "en") == "It costs $5 and more."


@given(
    text=st.text(
        st.one_of(st.sampled_from(" .,:;-–/$€%°ºkKmMhHIVX0123456789@#&+=~*_[]()\n\u00a0"), st.characters()), max_size=80
    ),
    language=st.sampled_from(["en", "es", "fr-CH", "de", "pt-PT", "it", "ja", "x-klingon"]),
)
@settings(max_examples=600, deadline=None)
def test_the_sources_of_the_spans_are_the_text(text, language):
    assert "".join(span.source for span in read(text, language)) == text


@pytest.mark.parametrize(
    ("language", "length"), [("en", 20_000), ("es", 2_000), ("fr", 2_000), ("de", 2_000), ("pt", 2_000), ("it", 2_000)]
)
def test_no_text_is_slow_to_read(language, length):
    def took(piece):
        return least_processor_time(lambda: read((piece * length)[:length], language))

    ordinary = took(ORDINARY)
    for piece in HOSTILE:
        assert took(piece) < 10 * ordinary, piece  # it is 5 times at most
