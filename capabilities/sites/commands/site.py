"""`pressroom site`: the sites that an account publishes on, and what is proposed and written there."""

from capabilities.sites.commands import connecting, reviewing, watching  # noqa: F401  they add commands to the group
from capabilities.sites.commands.group import group
from scripts.commands import ACCOUNTS, under

register = under(ACCOUNTS, group)
