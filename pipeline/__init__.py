"""The core that everyone shares."""

import os

# Every process and every test imports this package first. Libraries read these once, when they are imported:
# huggingface_hub would otherwise send the hub one more request for its statistics.
os.environ |= {"HF_HUB_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1"}
