"""Capabilities: what can be asked for, a folder each. Add a line here for a new one.

A capability has the parts that it needs, as a module or a folder: `kinds` (KINDS), `routes` (WORK, PATHS, MODELS, TRY,
resources), `handlers`, `engines`, `commands`, `settings` (SECTIONS), `doctor` and `demo`. Its `__init__.py` says where
its engine families (FAMILIES) and commands (COMMANDS) are. docs/architecture.md describes each part."""

#: In the order of the documents.
CAPABILITIES = ("alt_text", "blog", "index_check", "openai_audio", "speech", "transcription")
