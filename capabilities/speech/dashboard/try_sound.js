// Sound: what a page shows of a sound that was made, and a stream that is heard while it arrives.

import { credits, facts, make, notes, ownFile, saveLink } from "./try_dom.js";
import { bodyOf, Refused, send } from "./try_job.js";
import { player, words } from "./try_player.js";
import { voiceFacts } from "./try_voices.js";

const MP3 = "audio/mpeg";
/** Bytes that the live player takes at once, and the seconds before the present that it keeps. */
const SLICE_BYTES = 65_536;
const KEPT_SECONDS = 5;

/** Return a player, with words when the answer has their times, and links that save it. */
export async function showSound(answer, { request }) {
  return answer.headers.get("Content-Type")?.startsWith("application/json")
    ? timed(await answer.json(), request)
    : plain(await answer.blob(), request, answer.headers, answer.heard);
}

/** `heard`: how far the sound was heard while it arrived; it goes on from there. */
function plain(sound, request, headers, heard) {
  const audio = player(sound, "Result");
  if (heard) audio.currentTime = heard.seconds;
  if (heard?.isPlaying) audio.play().catch(() => null);
  const known = facts([
    ...voiceFacts(headers.get("X-Voice"), request.fields.language),
    ["Cost", credits(headers.get("X-Credits-Used"))],
  ], [["Engine", headers.get("X-Engine")]]);
  return [audio, ...notes([headers.get("X-Warning")]), known, make("p", { class: "actions" }, saveLink(sound, request.saves ?? "sound", "Download audio"))];
}

function timed(document, request) {
  const audio = player(ownFile(document.audio_url), "Result");
  const sentences = document.sentences.map((sentence) => ({
    ...sentence,
    words: document.words.filter((word) => word.start >= sentence.start && word.end <= sentence.end),
  }));
  const known = facts([
    ...voiceFacts(document.voice, request.fields.language),
    ["Length", `${document.duration.toFixed(1)} s`],
    ["Cost", credits(document.credits_used)],
  ], [["Engine", document.engine], ["Times", document.estimated ? "estimated" : "exact"]]);
  const name = (request.sound ?? "sound").replace(/\.\w+$/, "");
  const suffix = document.content_type === "audio/wav" ? "wav" : "mp3";
  return [
    audio,
    words(audio, sentences),
    ...notes(document.warnings),
    known,
    make("p", { class: "actions" },
      saveLink(ownFile(document.audio_url), `${name}.${suffix}`, "Download audio"),
      saveLink(ownFile(document.srt_url), `${name}.srt`, "SRT"),
      saveLink(ownFile(document.vtt_url), `${name}.vtt`, "WebVTT"),
    ),
  ];
}

/** Play an answer while it arrives, and return it whole. If it breaks off, what came is shown as the result. */
export async function hearStream(request, uploads, { signal, page }) {
  const { headers, body } = bodyOf(request, uploads);
  const answer = await send(request.path, { method: "POST", headers, body, signal });
  const stop = make("button", { type: "button", class: "second small" }, "Cancel");
  const aborted = new Promise((resolve, reject) => {
    stop.addEventListener("click", () => reject(new DOMException("Stopped. Speech so far is charged.", "AbortError")));
    signal.addEventListener("abort", () => reject(signal.reason));
  });
  const live = livePlayer();
  page.status.replaceChildren(make("p", {}, "Speaking …"), live.audio ?? "", stop);
  const reader = answer.body.getReader();
  const pieces = [];
  try {
    await Promise.race([readAll(reader, pieces, live), aborted]);
    if (!pieces.length) throw new Refused({ message: "The stream ended before any sound arrived." }, 502);
    return Object.assign(new Response(new Blob(pieces, { type: MP3 }), { headers: answer.headers }), { heard: live.heard() });
  } catch (error) {
    reader.cancel().catch(() => null);
    live.end();
    if (!pieces.length || signal.aborted) throw error;
    page.result.replaceChildren(...plain(new Blob(pieces, { type: MP3 }), request, answer.headers));
    if (error.name === "AbortError") throw error;
    throw new Refused({ message: "The stream broke off. The part that arrived is below." }, 502);
  }
}

async function readAll(reader, pieces, live) {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    live.add(value);
  }
  live.end();
}

/** Return a player that takes an MP3 in pieces; one without `audio` where the browser can't play those. */
function livePlayer() {
  const Source = window.ManagedMediaSource ?? window.MediaSource;
  if (!Source?.isTypeSupported(MP3)) return { add: () => {}, end: () => {}, heard: () => null };
  const source = new Source();
  const audio = make("audio", { controls: true, autoplay: true, "aria-label": "Live speech" });
  audio.disableRemotePlayback = true;
  audio.src = URL.createObjectURL(source);
  const waiting = [];
  let hasEnded = false;
  let buffer = null;
  const feed = () => {
    if (!buffer || buffer.updating || source.readyState !== "open") return;
    if (waiting.length) append(audio, buffer, waiting);
    else if (hasEnded) source.endOfStream();
  };
  source.addEventListener("sourceopen", () => {
    buffer = source.addSourceBuffer(MP3);
    buffer.addEventListener("updateend", feed);
    feed();
  }, { once: true });
  audio.addEventListener("timeupdate", feed);
  const add = (piece) => {
    for (let at = 0; at < piece.length; at += SLICE_BYTES) waiting.push(piece.subarray(at, at + SLICE_BYTES));
    feed();
  };
  const end = () => {
    hasEnded = true;
    feed();
  };
  return { audio, add, end, heard: () => ({ seconds: audio.currentTime, isPlaying: !audio.paused }) };
}

/** Append a slice. Browsers buffer about 12 MB: when full, drop what was played, or wait until more was. */
function append(audio, buffer, waiting) {
  try {
    buffer.appendBuffer(waiting[0]);
    waiting.shift();
  } catch (error) {
    if (error.name !== "QuotaExceededError") throw error;
    if (audio.currentTime > KEPT_SECONDS && buffer.buffered.start(0) < audio.currentTime - KEPT_SECONDS) {
      buffer.remove(0, audio.currentTime - KEPT_SECONDS);
    }
  }
}
