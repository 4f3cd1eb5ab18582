// Transcript: what is said, beside its player; a click on a word plays it.

import { copyButton, credits, facts, languageName, make, notes, saveLink } from "./try_dom.js";
import { startDrops } from "./try_files.js";
import { player, words } from "./try_player.js";
import { start } from "./try_page.js";
import { startRecorder } from "./try_recorder.js";

const ENDINGS = { text: "txt", srt: "srt", vtt: "vtt" };

/** Texts and subtitles are files; the player needs times, unless another form was chosen. */
function build(request) {
  const ending = ENDINGS[request.fields.response_format];
  if (!ending) return { ...request, client: { ...request.client, drop: ["response_format"] } };
  const client = { ...request.client, method: "subtitles", first: "audio", rename: { response_format: "form" }, to: true, then: [] };
  return { ...request, client, saves: `transcript.${ending}` };
}

async function show(answer, { uploads, request }) {
  const audio = player(uploads.audio, "Your recording");
  if (!request.saves) return spoken(await answer.json(), audio);
  const text = await answer.text();
  return [
    audio,
    make("pre", { class: "shown", tabindex: "0" }, text || "No speech found."),
    make("p", { class: "actions" }, saveLink(new Blob([text], { type: "text/plain" }), request.saves, `Download ${request.saves}`), copyButton(() => text)),
    facts([["Cost", credits(answer.headers.get("X-Credits-Used"))]]),
  ];
}

function spoken(transcript, audio) {
  const sure = transcript.language_probability;
  const text = transcript.segments ? words(audio, transcript.segments) : make("p", {}, transcript.text);
  return [
    audio,
    transcript.text ? text : make("p", { class: "note" }, "No speech found."),
    notes(transcript.warnings),
    make("p", { class: "actions" }, copyButton(() => transcript.text, "Copy the text"), copyButton(() => JSON.stringify(transcript, null, 2), "Copy as JSON")),
    facts([
      ["Language", languageName(transcript.language) + (sure === null ? "" : ` (${Math.round(sure * 100)} % sure)`)],
      ["Length", `${transcript.duration.toFixed(1)} s`],
      ["Cost", credits(transcript.credits_used)],
    ]),
    transcript.draft ? notes(["A small engine made this draft; proofread it."]) : null,
  ].flat();
}

const page = start({ build, show });
startDrops(page.form);
startRecorder(page.form.elements.audio, document.querySelector("[data-recorder]"));
