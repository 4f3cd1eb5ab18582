"""Measured track: a track whose loudness is measured while it grows, so that nobody waits for it at the end."""

from concurrent.futures import Future, ThreadPoolExecutor

from workers.media.audio.loudness import Meter, Profile
from workers.media.audio.track import Track


class MeasuredTrack(Track):
    """A track with a thread that measures what was appended; most of that time numpy computes, and holds up nobody."""

    def __init__(self, sample_rate: int) -> None:
        super().__init__(sample_rate)
        self._meter = Meter(self)
        self._thread = ThreadPoolExecutor(1, "loudness")
        self._measuring: Future[None] | None = None

    def append(self, samples: bytes | bytearray | memoryview) -> None:
        """Put samples (16 bit, little-endian) at the end."""
        super().append(samples)
        if self._measuring is None or self._measuring.done():
            self._measuring = self._thread.submit(self._meter.advance)

    def measured(self) -> Profile:
        """Return what all of the track was measured to be; nothing is appended any more."""
        if self._measuring is not None:
            self._measuring.result()
        return self._meter.finish()

    def close(self) -> None:
        """End the measuring, and delete the sound."""
        self._thread.shutdown(cancel_futures=True)
        super().close()
