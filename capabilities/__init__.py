"""Capabilities: what can be asked for, a folder each. Add a line here for a new one.

A capability has the parts that it needs, as a module or a folder: `kinds` (KINDS), `routes` (RESOURCES, WORK, TRY),
`chores` (of the sweep), `dashboard` (templates and scripts of its pages), `handlers`, `engines`, `commands`,
`settings` (SECTIONS), `doctor` and `demo`. Its `__init__.py` names its engine families (FAMILIES) and commands
(COMMANDS). docs/architecture.md describes each part."""

#: In the order of the documents.
CAPABILITIES = (
    "alt_text",
    "audiobooks",
    "blog",
    "index_check",
    "marks",
    "openai_audio",
    "sites",
    "speech",
    "transcription",
)
