"""OpenAI's audio routes, over speech and transcription."""
