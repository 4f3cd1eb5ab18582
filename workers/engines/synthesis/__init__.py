"""Engines that speak."""

from collections.abc import Mapping

#: In order of preference.
ENGINES: Mapping[str, str] = {
    "hibari": "workers.engines.synthesis.hibari:Hibari",
    "edge": "workers.engines.synthesis.edge.edge:Edge",
    "espeak": "workers.engines.synthesis.espeak.espeak:Espeak",
}
