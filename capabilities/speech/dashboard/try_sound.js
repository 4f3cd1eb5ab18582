// Sound: what a page shows of a sound that was made, and a stream that is heard while it arrives.

import { credits, facts, make, ownFile, saveLink } from "./try_dom.js";
import { bodyOf, Refused, send } from "./try_job.js";
import { player, words } from "./try_player.js";
import { voiceFacts } from "./try_voices.js";

const MP3 = "audio/mpeg";

/** Return a player, with words when the answer has their times, and links that save it. */
export async function showSound(answer, { request }) {
  return answer.headers.get("Content-Type")?.startsWith("application/json")
    ? timed(await answer.json(), request)
    : plain(await answer.blob(), request, answer.headers);
}

function plain(sound, request, headers) {
  const audio = player(sound, "Result");
  const known = facts([
    ...voiceFacts(headers.get("X-Voice"), request.fields.language),
    ["Engine", headers.get("X-Engine")],
    ["Cost", credits(headers.get("X-Credits-Used"))],
  ]);
  return [audio, known, make("p", { class: "actions" }, saveLink(sound, request.saves ?? "sound", "Download audio"))];
}

function timed(document, request) {
  const audio = player(ownFile(document.audio_url), "Result");
  const sentences = document.sentences.map((sentence) => ({
    ...sentence,
    words: document.words.filter((word) => word.start >= sentence.start && word.end <= sentence.end),
  }));
  const known = facts([
    ...voiceFacts(document.voice, request.fields.language),
    ["Engine", document.engine],
    ["Length", `${document.duration.toFixed(1)} s`],
    ["Cost", credits(document.credits_used)],
    ["Times", document.estimated ? "estimated" : "exact"],
  ]);
  const name = (request.sound ?? "sound").replace(/\.\w+$/, "");
  const suffix = document.content_type === "audio/wav" ? "wav" : "mp3";
  return [
    audio,
    words(audio, sentences),
    known,
    make("p", { class: "actions" },
      saveLink(ownFile(document.audio_url), `${name}.${suffix}`, "Download audio"),
      saveLink(ownFile(document.srt_url), `${name}.srt`, "SRT"),
      saveLink(ownFile(document.vtt_url), `${name}.vtt`, "WebVTT"),
    ),
  ];
}

/** Play an answer while it arrives, and return it whole. */
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
  try {
    const whole = await Promise.race([readAll(reader, live), aborted]);
    return whole.size ? new Response(whole, { headers: answer.headers }) : Promise.reject(new Refused({ message: "The stream ended before any sound arrived." }, 502));
  } catch (error) {
    await reader.cancel().catch(() => null);
    live.end();
    throw error;
  }
}

async function readAll(reader, live) {
  const pieces = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    await live.add(value);
  }
  live.end();
  return new Blob(pieces, { type: MP3 });
}

/** Return a player that takes an MP3 in pieces; one without `audio` where the browser can't play those. */
function livePlayer() {
  const Source = window.ManagedMediaSource ?? window.MediaSource;
  if (!Source?.isTypeSupported(MP3)) return { add: async () => {}, end: () => {} };
  const source = new Source();
  const audio = make("audio", { controls: true, autoplay: true, "aria-label": "Live speech" });
  audio.disableRemotePlayback = true;
  audio.src = URL.createObjectURL(source);
  const opened = new Promise((resolve) => source.addEventListener("sourceopen", () => resolve(source.addSourceBuffer(MP3)), { once: true }));
  const add = async (piece) => {
    const buffer = await opened;
    buffer.appendBuffer(piece);
    await new Promise((resolve) => buffer.addEventListener("updateend", resolve, { once: true }));
  };
  const end = () => source.readyState === "open" && source.endOfStream();
  return { audio, add, end };
}
