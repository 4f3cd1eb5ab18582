"""Topics: which motif and which scenes suit a post, by the words of its category and tags."""

import re
from collections.abc import Iterable, Mapping, Sequence

#: Motif: the words of categories and tags that it stands for, in several languages; with a *, their beginnings. The
#: first that is found counts, so the special ones come first.
MOTIFS: Mapping[str, str] = {
    "camera": "photo* foto camera* kamera* fotograf*",
    "headphones": "music* música* musik* musique* podcast* audio* song concert*",
    "clapper": "film* movie* cinema* kino cine tv television* entertainment* unterhaltung* divertissement*",
    "gamepad": "gaming* game videogame* videojueg* spiele* jeux jogos* giochi* esport*",
    "paw": "pet pets animal* dog cat hund katze* chien* chat mascota* perro* gato haustier* tiere* animali*",
    "bowl": (
        "food recipe* cook kitchen* restaurant* vegan* essen* kochen* rezept* cuisine* recette* cocina* "
        "receta* cucina* "
        "ricett* comida* receita* nutrition* ernährung*"
    ),
    "cup": "coffee* tea drink* lifestyle* café kaffee* caffè* morning* self-care*",
    "plant": (
        "garden* home plant* nature* environment* sustainab* green* eco garten* pflanz* natur* umwelt* "
        "jardin* plante* "
        "jardín* planta* giardin* piant* jardim* ambiente*"
    ),
    "balloon": (
        "travel* trip holiday* vacation* tourism* reise* urlaub* voyage* viaje* viagem* viagg* adventure* outdoor*"
    ),
    "coins": (
        "finance* money* invest* bank saving* budget* crypto* econom* finanz* geld argent* dinero* "
        "finanza* dinheiro* "
        "real-estate* insurance*"
    ),
    "chart": (
        "business* market* startup* sales* management* career* marketing* seo analytics* unternehmen* wirtschaft* "
        "entreprise* empresa* negoci* impresa* negóci* strategy* productivity* job"
    ),
    "laptop": (
        "tech* software* code program* develop* comput* internet* web digital* artificial* ai data security* gadget* "
        "technik* informatik* logiciel* tecnolog* informatique* sicherheit*"
    ),
    "flask": (
        "science* research* chemi* physic* biolog* wissenschaft* forschung* recherche* ciencia* scienza* ciência*"
    ),
    "ball": "sport* football* soccer* basketball* tennis* running* deporte* calcio* futebol* fútbol*",
    "heart": (
        "wellness* health* medic* fitness* workout* yoga mental* doctor* gesundheit* santé* salud* salute* saúde* "
        "relationship* "
        "love dating* wedding*"
    ),
    "hanger": "fashion* style* beauty* cloth* mode moda makeup* skin schönheit* beauté* belleza* bellezza* beleza*",
    "artist": (
        "art arts design* paint* draw illustration* culture* kunst* kultur* arte diseño* craft* diy "
        "handmade* basteln* bricolage*"
    ),
    "car": "car auto cars automotive* vehicle* driving* motor* voiture* coche* carro* electric*",
    "book": (
        "book read literature* learn* education* school* stud universit* teach* language* history* bildung* buch "
        "bücher* livre* libro* livro* educa* geschichte* philosoph* religion* spiritual*"
    ),
    "newspaper": (
        "news politic* press* media* law legal* society* nachricht* politik* actualité* noticia* notizie* notícia*"
    ),
    "house": (
        "estate* family* parent* kids child* baby house* interior* decor* familie* kinder* famille* familia* "
        "famiglia* família* wohnen*"
    ),
    "bulb": (
        "idea tip advice* creativ* innovation* how-to* motivation* personal* tipps* conseil* consejo* "
        "consigli* dica opinion*"
    ),
}

#: Which scenes go with a motif; any may follow.
SCENES: Mapping[str, Sequence[str]] = {
    "plant": ("garden", "hills"),
    "bowl": ("garden", "desk"),
    "cup": ("desk", "hills"),
    "balloon": ("sea", "mountains", "hills"),
    "camera": ("mountains", "sea", "desk"),
    "chart": ("city", "desk"),
    "coins": ("city", "desk"),
    "car": ("city", "mountains"),
    "laptop": ("desk", "city"),
    "newspaper": ("city", "desk"),
    "book": ("desk", "hills"),
    "flask": ("desk", "mountains"),
    "heart": ("hills", "sea"),
    "ball": ("hills", "mountains"),
    "paw": ("hills", "sea"),
    "house": ("hills", "city"),
    "headphones": ("city", "sea"),
    "clapper": ("city", "desk"),
    "bicycle": ("hills", "city"),
    "bread": ("desk", "hills"),
    "cake": ("desk", "garden"),
    "clock": ("desk", "city"),
    "guitar": ("sea", "hills"),
    "phone": ("desk", "city"),
    "piano": ("city", "hills"),
    "shoe": ("hills", "mountains"),
    "suitcase": ("city", "sea"),
    "tomatoes": ("garden", "hills"),
    "train": ("mountains", "hills"),
}

#: What can stand on a desk.
DESKTOP = frozenset(
    {"headphones", "book", "cup", "bowl", "laptop", "camera", "flask", "coins", "bread", "cake", "clock", "phone"}
)


def motif_of(category: str, tags: Iterable[str], otherwise: str) -> str:
    """Return the motif of a category, or else of a tag; `otherwise`: nothing is known for them."""
    for text in (category, *tags):
        words = re.findall(r"\w+", text.lower())
        for motif, stems in MOTIFS.items():
            if any(_is_of(word, stem) for word in words for stem in stems.split()):
                return motif
    return otherwise


def scenes_of(motif: str) -> Sequence[str]:
    """Return the scenes that suit a motif best."""
    return SCENES.get(motif, ())


def _is_of(word: str, stem: str) -> bool:
    if stem.endswith("*"):
        return word.startswith(stem[:-1])
    return word in (stem, stem + "s")
