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
    "football": "soccer* calcio* futebol* fútbol* fußball*",
    "ball": "basketball* basket baloncesto* basquete* pallacanestro*",
    "rings": "wedding* hochzeit* mariage* boda* casament* matrimoni*",
    "dumbbell": "sport* deporte* fitness* workout* running* gym",
    "heart": ("wellness* health* medic* yoga mental* doctor* gesundheit* santé* salud* salute* saúde*"),
    "bubbles": "relationship* dating love beziehung* relacion* relaç* relazion* couple* pareja*",
    "lotion": "beauty* makeup* skin skincare schönheit* beauté* belleza* bellezza* beleza*",
    "hanger": "fashion* style* cloth* mode moda",
    "tools": "diy repair* bricolage* bricolaje* handwerk* heimwerk* reparatur*",
    "artist": (
        "art arts design* paint* draw illustration* culture* kunst* kultur* arte diseño* craft* handmade* basteln*"
    ),
    "car": "car auto cars automotive* vehicle* driving* motor* voiture* coche* carro* electric*",
    "book": (
        "book read literature* learn* education* school* stud universit* teach* language* history* bildung* buch "
        "bücher* livre* libro* livro* educa* geschichte* philosoph* religion* spiritual*"
    ),
    "newspaper": (
        "news politic* press* media* law legal* society* nachricht* politik* actualité* noticia* notizie* notícia*"
    ),
    "blocks": "parent* family* kids child baby familie* kinder* famille* familia* famiglia* família*",
    "house": "estate* house* interior* decor* wohnen*",
    "bulb": (
        "idea tip advice* creativ* innovation* how-to* motivation* personal* tipps* conseil* consejo* "
        "consigli* dica opinion*"
    ),
}

#: The two scenes that go with a motif: with the motif itself, they are the covers of a post.
SCENES: Mapping[str, Sequence[str]] = {
    "artist": ("desk", "hills"),
    "ball": ("city", "hills"),
    "balloon": ("mountains", "hills"),
    "bicycle": ("hills", "city"),
    "blocks": ("garden", "hills"),
    "book": ("desk", "hills"),
    "bowl": ("kitchen", "desk"),
    "bread": ("kitchen", "desk"),
    "bubbles": ("garden", "city"),
    "bulb": ("desk", "city"),
    "cake": ("kitchen", "desk"),
    "camera": ("mountains", "desk"),
    "car": ("city", "mountains"),
    "chart": ("city", "desk"),
    "clapper": ("city", "desk"),
    "clock": ("desk", "city"),
    "coins": ("city", "desk"),
    "cup": ("desk", "kitchen"),
    "dumbbell": ("hills", "city"),
    "flask": ("desk", "mountains"),
    "football": ("hills", "city"),
    "gamepad": ("desk", "mountains"),
    "guitar": ("sea", "hills"),
    "hanger": ("city", "garden"),
    "headphones": ("city", "desk"),
    "heart": ("hills", "garden"),
    "house": ("city", "garden"),
    "laptop": ("desk", "city"),
    "lotion": ("garden", "desk"),
    "newspaper": ("city", "desk"),
    "paw": ("hills", "garden"),
    "pencil": ("desk", "hills"),
    "phone": ("desk", "city"),
    "piano": ("city", "hills"),
    "plant": ("garden", "hills"),
    "rings": ("hills", "sea"),
    "shoe": ("hills", "mountains"),
    "suitcase": ("city", "sea"),
    "tent": ("mountains", "hills"),
    "tomatoes": ("garden", "kitchen"),
    "tools": ("desk", "garden"),
    "train": ("mountains", "hills"),
    "yarn": ("desk", "garden"),
}

#: What can stand on a desk.
DESKTOP = frozenset(
    (
        "artist", "blocks", "book", "bowl", "bread", "cake", "camera", "clock", "coins", "cup", "flask", "gamepad",
        "headphones", "laptop", "lotion", "phone", "tools", "yarn",
    )
)  # fmt: skip


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
