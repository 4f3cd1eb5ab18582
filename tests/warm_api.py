"""Imports once, in the process that others are forked from, what each API imports: a second of a core."""

from api.app import import_parts

import_parts()
