"""Settings: every number and address that an operator may change."""

from pipeline.settings.settings import (
    ApiSettings,
    LimitSettings,
    MarkSettings,
    RetentionSettings,
    Settings,
    StoreSettings,
    TierLimits,
    TracingSettings,
)

__all__ = [
    "ApiSettings",
    "LimitSettings",
    "MarkSettings",
    "RetentionSettings",
    "Settings",
    "StoreSettings",
    "TierLimits",
    "TracingSettings",
]
