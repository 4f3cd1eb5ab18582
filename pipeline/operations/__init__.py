"""Operations: the figures that operators see, in one place for pages, commands and /metrics."""
