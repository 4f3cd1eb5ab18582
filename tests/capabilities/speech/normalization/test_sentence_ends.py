"""Sentence ends: where a reader would end a sentence, in several languages."""

import pytest

from capabilities.speech.normalization.sentences import sentences

#: Never the end of a sentence, and not before a number.
ABBREVIATIONS = {
    "en": (
        "Mr. Mrs. Ms. Dr. Prof. Rev. Hon. Gen. Col. Maj. Capt. Lt. Sgt. Gov. Sen. Rep. Pres. St. Mt. Ft. Messrs. Mme."
        " Supt. Cmdr. Adm. Atty. Insp. vs. approx. cf. Fig. Tel.",
        "No. Nos. Vol. Ch. Ed. Eq. Eqs. Figs. p. pp. max. min. est. ca. Jan. Feb. Mar. Apr. Jun. Jul. Aug. Sept. Oct.",
    ),
    "es": (
        "Sr. Sra. Srta. Dr. Dra. Prof. D. Dña. Ud. Uds. Lic. Ing. Arq. Mtro. Fr. Sto. Sta. Excmo. Ilmo. Gral. Cnel. Av."
        " Avda. Pza. Ctra. Cía. Mons. Rev. aprox. Sres. Sras.",
        "Nº. nº. núm. Núm. ed. pág. págs. cap. vol. art. tel. Tel. máx. mín.",
    ),
    "fr": (
        "M. MM. Mme. Mmes. Mlle. Mlles. Dr. Drs. Me. Mgr. Pr. Prof. St. Ste. bd. Bd. boul. av. Av. Cie. Sté. réf. Réf."
        " tél. Tél. env. c.-à-d. cf. Cf. ex. hab. apr.",
        "n. no. nos. p. pp. vol. chap. fig. art. éd. janv. févr. avr. juil. sept. oct. nov. déc. max. min.",
    ),
    "de": (
        "Hr. Fr. Dr. Prof. Dipl. Ing. Str. Abb. Abs. Bd. Tel. Hrsg. geb. gest. Kap. Hl. hl. Fa. Frl. allg. insb. verh."
        " gem. zit. röm. christl. sog. evtl. ggf. bzw. inkl. zzgl. vgl. bspw.",
        "Nr. S. Art. ca. max. min. Jan. Feb. Aug. Sept. Okt. Nov. Dez.",
    ),
    "pt": (
        "Sr. Sra. Srta. Dr. Dra. Prof. Profa. Exmo. Exma. Ilmo. Ilma. Eng. D. Dª. Gal. Cel. Cap. Ten. Sta. Sto. Av."
        " Pça. R. Cia. aprox. V.Exa. Sras. Srs. Dras. Mons. Pe. Rod.",
        "Nº. nº. n. núm. pág. págs. p. pp. cap. vol. ed. art. tel. jan. fev. mar. abr. jun. jul. ago. set. out. nov.",
    ),
    "it": (
        "Sig. Sig.ra Dott. Dott.ssa Prof. Prof.ssa Ing. Avv. Arch. Geom. Rag. On. Egr. Gent. Spett. Mons. S. Ss. Card."
        " Gen. Col. Cap. Ten. Preg. Ill. Rev. cfr.",
        "n. nn. num. pag. pagg. p. pp. cap. art. artt. vol. fig. ed. tel. Tel.",
    ),
}  # fmt: skip

#: Whole texts: what stands between bars is one sentence.
TEXTS = [
    ("en", "Prof. Smith met Dr. Jones in Washington, D.C. on Jan. 5th at 3.14 p.m. |He left the U.S. Army at 5 p.m. "
           "Monday. |J. K. Rowling, e.g. in Fig. 3, called Acme Inc. about No. 5. |“What? No!” he said. |Then came "
           "Henry VIII. |It is out!Good. |Yes."),
    ("en", "See example.com for version 3.14.2. |Wait... what? |Wait... |“Why?” |She left."),
    ("es", "El Sr. Pérez y la Dra. Gómez viven en la Avda. América, núm. 5. |¿Qué? |¡No! |Murió en el s. V a. C. y no "
           "volvió, p. ej. Juan. |Los EE. UU. son grandes. |Fin."),
    ("fr", "M. Dupont, Mme. Durand et le Pr. Martin, né avant J.-C. en janv. 2020. |« Quoi ? Non ! » dit-il. |Fin."),
    ("fr", "M. Dupont arrive à 8 h. |Prix : 5 €. |« Oui. » |Il part."),
    ("de", "Das ist z. B. gut, d. h. sehr gut, u. a. für Hrn. Meier. |Er lebte im 19. Jahrhundert in der 3. Etage. |Am "
           "24. Dezember kam Dr. Müller. |„Was? Nein!“ sagte er. |Er ist 21. |Sie auch."),
    ("pt", "O Exmo. Sr. Dr. João e a Dra. Ana moram na Av. Paulista, n. 5, p. 3. |Sim! |E a Profa. Sofia? |Fim."),
    ("it", "Il Sig. Rossi, la Sig.ra Bianchi e il Dott. Verdi sono in S. Marco, pag. 5. |Davvero? |Sì."),
    ("ja", "今日は晴れです。|「はい。そうです。」|と言った。|本当？|はい！"),
    ("zh", "你好。|你好吗？|我很好！|谢谢。"),
    ("hi", "यह है। |वह है। |ठीक"),
    ("ru", "Это дом. |Кто там? |Никого!"),
    ("ar", "مرحبا؟ |نعم. |لا"),
]  # fmt: skip


@pytest.mark.parametrize("language", ABBREVIATIONS)
def test_no_sentence_ends_with_an_abbreviation(language):
    never, before_numbers = ABBREVIATIONS[language]
    texts = [f"Anna 1 {word} Alpha 2." for word in never.split()]
    texts += [f"Anna 1 {word} 5 Alpha." for word in before_numbers.split()]

    assert [text for text in texts if len(list(sentences(text, language))) > 1] == []
    assert len(texts) >= 30


@pytest.mark.parametrize(("language", "text"), TEXTS, ids=[f"{language}-{text[:12]}" for language, text in TEXTS])
def test_a_sentence_ends_where_a_reader_ends_it(language, text):
    assert list(sentences(text.replace("|", ""), language)) == text.split("|")


def test_a_line_goes_on_in_small_letters_or_when_it_was_wrapped():
    wrapped = "It was the best of times, it was the worst of times, and then\nHenry came. "
    assert list(sentences(wrapped + "All\nwas well.", "en")) == [wrapped, "All\nwas well."]


def test_headings_items_and_paragraphs_are_sentences_of_their_own():
    lines = ["My Title\n", "Eggs\n", "- Milk\n", "- Bread\n\n", "and more\n", f"{'Word ' * 15}and\n", "1. First"]
    assert list(sentences("".join(lines), "en")) == lines


def test_white_space_that_makes_the_library_panic_is_a_space():
    text = "U.S\u00a0. “Quoi\u00a0?\u00a0» 1.\u3000A.\u3000«\u202fOui.\u202f»"

    assert "".join(sentences(text, "fr")) == text


def test_a_long_quotation_has_sentences():
    text = "“One is here. Two is there. Three.” He left."

    assert list(sentences(text, "en")) == ["“One is here. Two is there. Three.” ", "He left."]
    assert list(sentences(text, "en", in_quotes=True)) == ["“One is here. ", "Two is there. ", "Three.” ", "He left."]
