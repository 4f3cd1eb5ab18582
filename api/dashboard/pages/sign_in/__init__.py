"""Sign in: by password, by a link, by a passkey or at a provider, and the second step after each but a passkey."""

from api.dashboard.pages.sign_in import first_step, passkeys, provider, second_step

IS_PUBLIC = True
RESOURCES = {**first_step.RESOURCES, **second_step.RESOURCES, **passkeys.RESOURCES, **provider.RESOURCES}
