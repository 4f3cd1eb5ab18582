"""Alt text: describes pictures for people who can't see them."""

FAMILIES = {"captioning": "capabilities.alt_text.engines"}
COMMANDS = {"describe": "capabilities.alt_text.commands.alt_text"}
