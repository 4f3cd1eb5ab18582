"""The edge service on loopback: the protocol of the real one, voices of espeak, and faults on demand.

From what edge-tts 7.3 sends and accepts (its communicate.py and voices.py)."""

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from xml.sax.saxutils import unescape

from aiohttp import WSMsgType, web
from loopback import served

from capabilities.speech.engines.espeak.espeak import Espeak
from capabilities.speech.settings import EdgeSettings
from pipeline.settings import Settings
from workers.media.audio.encoding.encoded_stream import EncodedStream
from workers.media.audio.encoding.encodings import Mp3Format, mp3_stream
from workers.media.audio.ffmpeg import find_ffmpeg
from workers.media.audio.pcm import Pcm

#: The service's format: 24 kHz, 48 kbit/s, constant, mono.
FORM = mp3_stream(Mp3Format(48_000, 24_000))

#: Bytes of an audio message.
PIECE = 720

#: The names of its voices, and what speaks for them here.
VOICES = {
    "en-GB-SoniaNeural": ("en-GB", "Female", "en-GB-female"),
    "en-US-EmmaMultilingualNeural": ("en-US", "Female", "en-US-female"),
    "en-US-GuyNeural": ("en-US", "Male", "en-US"),
    "de-DE-KatjaNeural": ("de-DE", "Female", "de-female"),
}

SSML = re.compile(
    r"<speak version='1\.0' xmlns='http://www\.w3\.org/2001/10/synthesis' xml:lang='en-US'>"
    r"<voice name='Microsoft Server Speech Text to Speech Voice \((?P<locale>[\w-]+), (?P<name>\w+)\)'>"
    r"<prosody pitch='(?P<pitch>[+-]\d+Hz)' rate='(?P<rate>[+-]\d+)%' volume='(?P<volume>[+-]\d+%)'>"
    r"(?P<text>[^<]*)</prosody></voice></speak>"
)


@dataclass
class EdgeService:
    """A running fake. `fault` is what goes wrong from now on, `times` how often (-1: always)."""

    url: str = ""
    voices_url: str = ""
    fault: str | None = None
    times: int = -1
    #: Seconds before each message.
    delay: float = 0.0
    #: Requests as (voice, rate in percent, text).
    asked: list[tuple[str, int, str]] = field(default_factory=list)
    refused: int = 0
    #: Pieces of audio.
    sent: int = 0
    open: int = 0
    most_open: int = 0
    #: Set when it closes: until then a stalled connection is neither answered nor read.
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def fail(self, fault: str | None, times: int = -1) -> None:
        """Go wrong: forbidden, too_many, stall, stall_at_start, cut, empty, noise, gibberish, short."""
        self.fault, self.times = fault, times

    def settings(self, **changes: object) -> Settings:
        """Return settings that use this service."""
        edge = EdgeSettings(url=self.url, voices_url=self.voices_url, stall_seconds=30, connect_seconds=10)
        settings = Settings()
        settings.synthesis.edge = edge.model_copy(update=changes)
        return settings

    def _takes(self, *faults: str) -> str | None:
        """Return the fault that strikes now, when it is one of these."""
        if self.fault not in faults or self.times == 0:
            return None
        self.times -= 1
        return self.fault

    async def _list(self, request: web.Request) -> web.Response:
        if fault := self._takes("forbidden", "too_many"):
            return self._refuse(fault)
        listed = [
            {
                "Name": f"Microsoft Server Speech Text to Speech Voice ({locale}, {name.removeprefix(locale)[1:]})",
                "ShortName": name, "Gender": gender, "Locale": locale, "FriendlyName": f"Microsoft {name}",
                "SuggestedCodec": "audio-24khz-48kbitrate-mono-mp3", "Status": "GA",
            }
            for name, (locale, gender, _) in VOICES.items()
        ]  # fmt: skip
        evil = [{"ShortName": "en-US-A'><break time='9s'/>Neural", "Locale": "en-US", "Gender": "Male"}]
        return web.json_response(listed + evil)

    async def _speak(self, request: web.Request) -> web.StreamResponse:
        assert request.query["Sec-MS-GEC"]
        assert request.query["ConnectionId"]
        if fault := self._takes("forbidden", "too_many"):
            return self._refuse(fault)
        socket = web.WebSocketResponse(compress=True)
        await socket.prepare(request)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            async for message in socket:
                if message.type == WSMsgType.TEXT and "Path:ssml" in message.data:
                    await self._turn(socket, message.data)
        except ConnectionError:
            pass  # the client has left
        finally:
            self.open -= 1
        return socket

    def _refuse(self, fault: str) -> web.Response:
        self.refused += 1
        return (
            web.Response(status=403) if fault == "forbidden" else web.Response(status=429, headers={"Retry-After": "7"})
        )

    async def _turn(self, socket: web.WebSocketResponse, message: str) -> None:
        request_id = re.search(r"X-RequestId:(\w+)", message)[1]
        asked = SSML.fullmatch(message.partition("\r\n\r\n")[2])
        assert asked, message
        voice, rate, text = f"{asked['locale']}-{asked['name']}", int(asked["rate"]), unescape(asked["text"])
        self.asked.append((voice, rate, text))
        fault = self._takes("stall", "stall_at_start", "cut", "empty", "noise", "gibberish", "short")
        audio = b"" if fault == "empty" else await asyncio.to_thread(spoken_mp3, VOICES[voice][2], rate, text)
        seconds = len(audio) / 6_000
        if fault == "noise":
            audio = bytes(range(256)) * (len(audio) // 256)
        if fault == "short":
            audio = audio[: len(audio) // 3 // 144 * 144]
        if fault == "stall_at_start":
            await self._hang()
        if fault == "gibberish":
            await socket.send_str("what\r\n\r\n?")
        await self._text(socket, request_id, "turn.start", {"context": {"serviceTag": "fake"}})
        await self._text(socket, request_id, "response", {"context": {"serviceTag": "fake"}})
        for start in range(0, len(audio), PIECE):
            if fault in ("stall", "cut") and start >= len(audio) // 2:
                if fault == "stall":
                    await self._hang()
                await socket.close()
                return
            await asyncio.sleep(self.delay)
            await self._binary(socket, request_id, audio[start : start + PIECE])
            self.sent += 1
        if audio:
            await self._binary(socket, request_id, b"")
            spoken = {
                "Offset": 1_000_000,
                "Duration": int(seconds * 1e7) - 2_000_000,
                "text": {"Text": text, "Length": 1},
            }
            boundary = {"Metadata": [{"Type": "SentenceBoundary", "Data": spoken}]}
            await self._text(socket, request_id, "audio.metadata", boundary)
        await self._text(socket, request_id, "turn.end", {})

    async def _hang(self) -> None:
        """Stand still until all ends; those that do are not counted among the open."""
        self.open -= 1
        await self.ended.wait()
        self.open += 1

    async def _text(self, socket: web.WebSocketResponse, request_id: str, path: str, body: object) -> None:
        head = f"X-RequestId:{request_id}\r\nContent-Type:application/json; charset=utf-8\r\nPath:{path}\r\n\r\n"
        await socket.send_str(head + json.dumps(body))

    async def _binary(self, socket: web.WebSocketResponse, request_id: str, audio: bytes) -> None:
        kind = "Content-Type:audio/mpeg\r\n" if audio else ""
        head = f"X-RequestId:{request_id}\r\n{kind}X-StreamId:1\r\nPath:audio\r\n".encode()
        await socket.send_bytes(len(head).to_bytes(2, "big") + head + audio)


@contextmanager
def edge_service() -> Iterator[EdgeService]:
    """Run a fake on a port of its own until the block is left."""
    service = EdgeService()
    app = web.Application()
    app.add_routes([web.get("/voices", service._list), web.get("/speak", service._speak)])
    with served(app, ended=service.ended) as port:
        service.url, service.voices_url = f"ws://127.0.0.1:{port}/speak", f"http://127.0.0.1:{port}/voices"
        yield service


@cache
def spoken(voice: str, rate: int, text: str) -> Pcm:
    """Return what the fake's voices say."""
    engine = _espeak()
    return engine.speak(text, voice=voice, speed=1 + rate / 100)


@cache
def spoken_mp3(voice: str, rate: int, text: str) -> bytes:
    """Return the same as the service sends it."""
    sound = spoken(voice, rate, text)
    pieces: list[bytes] = []
    with EncodedStream(_ffmpeg(), sample_rate=sound.sample_rate, sink=pieces.append, encoding=FORM) as stream:
        stream.write(bytes(sound.samples))
        stream.finish()
    return b"".join(pieces)


@cache
def _espeak() -> Espeak:
    engine = Espeak()
    engine.setup()
    return engine


@cache
def _ffmpeg():
    return find_ffmpeg(Settings())
