// Transcript: what is said, beside its player; a click on a word plays it, and each line can be corrected.

import { startBulk } from "./bulk.js";
import { copyButton, credits, facts, languageName, make, notes, saveLink } from "./try_dom.js";
import { bodyOf, carryOut, keepTexts } from "./try_job.js";
import { player, words } from "./try_player.js";
import { start } from "./try_page.js";
import { startRecorder } from "./try_recorder.js";
import { uploadFile } from "./try_upload.js";
import { edited, filesOf } from "./transcript_files.js";

const ENDINGS = { text: "txt", srt: "srt", vtt: "vtt" };
const LABELS = { srt: "SRT", vtt: "VTT", docx: "Word", txt: "Text" };

/** Texts and subtitles are files; the player needs times, unless another form was chosen. */
function build(request) {
  const ending = ENDINGS[request.fields.response_format];
  if (!ending) return { ...request, client: { ...request.client, drop: ["response_format"] } };
  const client = { ...request.client, method: "subtitles", first: "audio", rename: { response_format: "form" }, drop: ["keep_audio"], to: true, then: [] };
  return { ...request, client, saves: `transcript.${ending}` };
}

/** Return the request for a recording, and its files; one that is too large for a form is uploaded first. */
async function sized(fields, audio, account, how) {
  if (audio.size <= account.max_file_bytes) return [{ path: "/tts/stt", fields }, { audio }];
  return [{ path: "/transcriptions", fields: { ...fields, upload: await uploadFile(audio, how) } }, {}];
}

async function run(request, { audio }, { onJob, signal, page }) {
  return carryOut(...(await sized(request.fields, audio, JSON.parse(page.form.dataset.account), { onJob, signal })), { onJob, signal });
}

async function show(answer, { uploads, request }) {
  const audio = player(uploads.audio, "Your recording");
  if (!request.saves) return spoken(await answer.json(), { audio, name: uploads.audio.name, job: answer.headers.get("X-Job-Id") });
  return [audio, ...plain(await answer.text(), request.saves), facts([["Cost", credits(answer.headers.get("X-Credits-Used"))]])];
}

function plain(text, name) {
  return [
    make("pre", { class: "shown", tabindex: "0" }, text || "No speech found."),
    make("p", { class: "actions" }, saveLink(new Blob([text], { type: "text/plain" }), name, `Download ${name}`), copyButton(() => text)),
  ];
}

function spoken(transcript, { audio, name, job, texts, names }) {
  const sure = transcript.language_probability;
  const own = { texts, names };
  return [
    audio,
    make("p", { class: "actions" }, downloads(transcript, own, name), copyButton(() => transcript.text, "Copy the text"), copyButton(() => JSON.stringify(transcript, null, 2), "Copy as JSON")),
    people(transcript, own, job),
    transcript.text ? body(transcript, audio, own, job) : make("p", { class: "note" }, "No speech found."),
    notes(transcript.warnings),
    facts([
      ["Language", languageName(transcript.language) + (sure === null ? "" : ` (${Math.round(sure * 100)} % sure)`)],
      ["Length", `${transcript.duration.toFixed(1)} s`],
      ["Cost", credits(transcript.credits_used)],
    ]),
    transcript.draft ? notes(["A small engine made this draft; proofread it."]) : null,
  ].flat().filter(Boolean);
}

/** Return a field for each speaker's name; a new name is kept with the job, and stands in the files. */
function people(transcript, own, job) {
  if (!transcript.speakers?.length) return null;
  const fields = transcript.speakers.map((speaker) => {
    const field = make("input", { type: "text", value: own.names?.[speaker] ?? "", placeholder: speaker, maxlength: 80, "aria-label": `Name of ${speaker}` });
    field.addEventListener("change", () => {
      own.names = { ...own.names, [speaker]: field.value.trim() };
      own.shown?.();
      keep(own, job);
    });
    return field;
  });
  return make("div", { class: "field", "data-speakers": true }, make("span", { class: "label" }, "Who speaks"), fields);
}

/** Keep a reader's texts and names with the job. */
const keep = (own, job) => keepTexts(job, 0, { ...(own.texts && { segments: own.texts }), ...(own.names && { speakers: own.names }) });

/** Return the words, and a button that makes each line a field. */
function body(transcript, audio, own, job) {
  if (!transcript.segments) return make("p", {}, transcript.text);
  const box = make("div");
  const read = () => (audio ? words(audio, edited(transcript, own)) : make("div", {}, edited(transcript, own).map((one) => make("p", {}, one.speaker ? `${one.speaker}: ${one.text}` : one.text))));
  own.shown = () => button.getAttribute("aria-pressed") === "false" && box.replaceChildren(read());
  const button = make("button", { type: "button", class: "second small", "aria-pressed": "false" }, "Correct the text");
  button.addEventListener("click", () => {
    const isEditing = button.getAttribute("aria-pressed") === "false";
    button.setAttribute("aria-pressed", String(isEditing));
    button.textContent = isEditing ? "Done" : "Correct the text";
    box.replaceChildren(isEditing ? lines(transcript, audio, own, job) : read());
  });
  box.append(read());
  return make("div", {}, make("p", { class: "actions" }, button), box);
}

function lines(transcript, audio, own, job) {
  return make("div", { class: "lines-edited" }, edited(transcript, own).map((segment, place) => {
    const area = make("textarea", { rows: 2, "aria-label": `Line ${place + 1}` });
    area.value = segment.text;
    area.addEventListener("focus", () => {
      if (audio) audio.currentTime = segment.start;
    });
    area.addEventListener("change", () => {
      own.texts ??= transcript.segments.map((one) => one.text);
      own.texts[place] = area.value;
      keep(own, job);
    });
    return area;
  }));
}

function downloads(transcript, own, name) {
  const stem = (name ?? "transcript").replace(/\.[^.]*$/, "");
  return Object.entries(LABELS).filter(([ending]) => transcript.segments || ending === "txt" || ending === "docx").map(([ending, label]) => {
    const button = make("button", { type: "button", class: "second small", "aria-label": `Download as ${label}` }, label);
    button.addEventListener("click", async () => saveLink(new Blob([await filesOf(transcript, own)[ending]()]), `${stem}.${ending}`, "").click());
    return button;
  });
}

/** Many recordings, each a job. */
export const bulk = {
  kinds: [],
  noun: ["recording", "recordings"],
  verb: "Transcribe",
  file: "audio",
  most: 1,
  atOnce: 2,
  cost: 5,
  isLeast: true,
  file_name: "transcripts",
  uploads: true,
  takes: (file) => (file.type && !/^(audio|video)\//.test(file.type) ? "This is not a recording." : null),
  settings: (fields) => fields,
  async request([row], fields, account) {
    const [request, files] = await sized({ ...fields, response_format: "verbose_json" }, new File([row.file], row.name, { type: row.file.type }), account);
    return { path: request.path, ...bodyOf(request, files) };
  },
  texts(transcript, row) {
    row.transcript = transcript;
    return { texts: { language: transcript.language, seconds: transcript.duration, text: transcript.text } };
  },
  preview: (row) => [make("p", {}, row.texts.text.length > 300 ? `${row.texts.text.slice(0, 300)} …` : row.texts.text || "No speech found.")],
  columns: () => [],
  told: [{ name: "language" }, { name: "seconds" }, { name: "text" }],
  async files(rows) {
    const files = [];
    for (const row of rows) {
      for (const [ending, write] of Object.entries(filesOf(row.transcript, { texts: row.texts.segments }))) files.push([`${row.name.replace(/\.[^.]*$/, "")}.${ending}`, await write()]);
    }
    return files;
  },
};

/** Show a job's transcript on its own page, with its recording where that is kept. */
export async function showJob({ job, read, rows }) {
  const answer = await read();
  const [row = {}] = await rows();
  const audio = row.shown_by ? player(row.shown_by, "The recording") : null;
  const isFile = !(answer.headers.get("Content-Type") ?? "").startsWith("application/json");
  if (isFile) return [audio, ...plain(await answer.text(), job.name ?? "transcript.txt")].filter(Boolean);
  return spoken(await answer.json(), { audio, name: job.name, job: job.id, texts: row.edited?.texts.segments, names: row.edited?.texts.speakers });
}

const page = start({ build, run, show, many: (page) => startBulk(page, bulk) });
if (page) startRecorder(page.form.elements.audio, document.querySelector("[data-recorder]"));
