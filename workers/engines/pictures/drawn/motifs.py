"""Motifs: things that stand for what a post is about, by name; each is drawn by a pen in a palette's colours."""

from collections.abc import Callable, Mapping

from workers.engines.pictures.drawn import (
    food_motifs,
    home_motifs,
    leisure_motifs,
    music_motifs,
    sport_motifs,
    travel_motifs,
    work_motifs,
)
from workers.engines.pictures.drawn.palettes import Palette
from workers.engines.pictures.drawn.pen import Pen

Motif = Callable[[Pen, Palette], None]

MOTIFS: Mapping[str, Motif] = {
    "artist": leisure_motifs.artist,
    "ball": work_motifs.ball,
    "balloon": leisure_motifs.balloon,
    "bicycle": travel_motifs.bicycle,
    "blocks": home_motifs.blocks,
    "book": leisure_motifs.book,
    "bowl": leisure_motifs.bowl,
    "bread": food_motifs.bread,
    "bubbles": home_motifs.bubbles,
    "bulb": work_motifs.bulb,
    "cake": food_motifs.cake,
    "camera": leisure_motifs.camera,
    "car": work_motifs.car,
    "chart": work_motifs.chart,
    "clapper": work_motifs.clapper,
    "clock": work_motifs.clock,
    "coins": work_motifs.coins,
    "cup": leisure_motifs.cup,
    "dumbbell": sport_motifs.dumbbell,
    "flask": work_motifs.flask,
    "football": sport_motifs.football,
    "gamepad": work_motifs.gamepad,
    "guitar": music_motifs.guitar,
    "hanger": leisure_motifs.hanger,
    "headphones": leisure_motifs.headphones,
    "heart": leisure_motifs.heart,
    "house": leisure_motifs.house,
    "laptop": work_motifs.laptop,
    "lotion": home_motifs.lotion,
    "newspaper": work_motifs.newspaper,
    "paw": leisure_motifs.paw,
    "pencil": work_motifs.pencil,
    "phone": work_motifs.phone,
    "piano": music_motifs.piano,
    "plant": leisure_motifs.plant,
    "rings": home_motifs.rings,
    "shoe": travel_motifs.shoe,
    "suitcase": travel_motifs.suitcase,
    "tent": sport_motifs.tent,
    "tomatoes": food_motifs.tomatoes,
    "tools": home_motifs.tools,
    "train": travel_motifs.train,
    "yarn": home_motifs.yarn,
}
