"""Ways to sign in beside a password and a link: a passkey, a provider, and the second step."""

from api.dashboard.pages.sign_in_ways import passkeys, provider, second_step

IS_PUBLIC = True
RESOURCES = {**second_step.RESOURCES, **passkeys.RESOURCES, **provider.RESOURCES}
