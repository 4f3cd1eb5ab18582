"""Sites: proposes alt texts and parts of posts where an account publishes, and writes those that were accepted."""

COMMANDS = {"audit": "capabilities.sites.commands.audit", "site": "capabilities.sites.commands.site"}
