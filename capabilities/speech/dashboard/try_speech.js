// Speech: a voice is picked by listening, and a text is heard; many texts become as many MP3s.

import { startBulk } from "./bulk.js";
import { credits, make } from "./try_dom.js";
import { startLexicon } from "./try_lexicon.js";
import { start } from "./try_page.js";
import { hearStream, showSound } from "./try_sound.js";
import { loadVoices, startVoices } from "./try_voices.js";

/** A named voice needs no detection; with their times, an answer is a document that leads to the sound. */
function build(request) {
  if (request.fields.voice_name && request.fields.language === "auto") delete request.fields.language;
  if (!request.fields.timestamps) return request;
  const then = [`answer.save("${request.saves}")`, "print(answer.srt)"];
  return { ...request, sound: request.saves, saves: null, client: { ...request.client, then } };
}

/** Say how long the text is and what it costs, and which output takes it if it is too long for this one. */
function count(page) {
  if (page.bulk.isOn()) return;
  const place = page.form.querySelector("[data-count]");
  const length = [...page.form.elements.text.value].length;
  const { longest, per_credit: each, label } = page.kind();
  const isTooLong = length > longest.text;
  const other = Object.values(page.kinds).find((one) => one.longest.text >= length);
  place.classList.toggle("error", isTooLong);
  place.textContent = `${length.toLocaleString()} of ${longest.text?.toLocaleString()} characters`;
  if (isTooLong) place.textContent += other ? `. Choose “${other.label}”.` : `: too long for “${label}”.`;
  if (each && !isTooLong) page.price.textContent = credits(Math.max(1, Math.ceil(length / each)) + page.kind().more_credits);
}

function showSpeed(form) {
  const speed = Number(form.elements.speed.value);
  form.querySelector("[data-shows=try-speed]").textContent = speed === 1 ? "normal" : `${speed}×`;
}

const LONGEST_TEXT = 20_000;
const CHARACTERS_PER_CREDIT = 1_000;
const soundOf = (row) => `/jobs/${row.job}/result`;

/** Name a row's MP3 by its own name, or by its line and first words. */
function fileName(row) {
  const first = row.line && !row.fields.name ? `${row.line} ` : "";
  return `${first}${row.name.replace(/[\\/:*?"<>|\s]+/g, " ").slice(0, 60).trim()}.mp3`;
}

/** Many texts, each a job: files, or the rows of a list. */
export const bulk = {
  kinds: [],
  kind: "speech_batch",
  isSound: true,
  noun: ["text", "texts"],
  verb: "Speak",
  file: "texts",
  most: 1,
  atOnce: 3,
  cost: 1,
  file_name: "speech",
  takes: (file) => (/\.(txt|md|markdown)$/i.test(file.name) ? null : "This is not a text or Markdown file."),
  async prepare(file, row) {
    const text = await file.text();
    const { length } = [...text];
    const fault = !text.trim() ? "This file is empty." : length > LONGEST_TEXT ? `This has ${length.toLocaleString()} characters; at most ${LONGEST_TEXT.toLocaleString()} fit. Split it.` : "";
    const name = file.name.replace(/\.[^.]*$/, "");
    Object.assign(row, { name, fields: { text, name }, credits: Math.ceil(length / CHARACTERS_PER_CREDIT) }, fault ? { state: "faulty", fault } : {});
  },
  async alone(file, page) {
    page.form.elements.text.value = await file.text();
    page.form.elements.text.dispatchEvent(new Event("input", { bubbles: true }));
  },
  settings: ({ text: _, ...more }) => more,
  request([row], { text: _, ...more }) {
    const { name: __, ...own } = row.fields;
    return { path: "/tts/batch", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ...more, ...own }) };
  },
  texts: (_, row) => ({ texts: { file: row.fields ? fileName(row) : `${row.name.slice(0, 60)}.mp3` } }),
  preview: (row) => [make("p", { class: "faint" }, row.fields ? row.fields.text.slice(0, 200) : "")],
  columns: () => [],
  told: [{ name: "file" }],
  async files(rows) {
    const files = [];
    for (const row of rows) files.push([row.texts.file, await (await fetch(soundOf(row))).blob()]);
    return files;
  },
};

/** Show a job's sound on its own page. */
export async function showJob({ read }) {
  await loadVoices();
  const answer = await read();
  const suffix = answer.headers.get("Content-Type")?.includes("wav") ? "wav" : "mp3";
  return showSound(answer, { request: { fields: {}, saves: `speech.${suffix}`, sound: `speech.${suffix}` } });
}

const page = start({
  build,
  show: showSound,
  many: (page) => startBulk(page, bulk),
  run: (request, uploads, context) => (context.kind.name === "speech_stream" ? hearStream(request, uploads, context) : null),
});
if (page) {
  const { form } = page;
  for (const event of ["input", "change"]) {
    form.addEventListener(event, () => {
      count(page);
      showSpeed(form);
    });
  }
  for (const button of form.querySelectorAll("[data-insert]")) {
    button.addEventListener("click", () => {
      const { text } = form.elements;
      text.setRangeText(button.dataset.insert, text.selectionStart, text.selectionEnd, "end");
      text.focus();
      text.dispatchEvent(new Event("input", { bubbles: true }));
    });
  }
  startLexicon(form.querySelector("[data-lexicon]"));
  await startVoices(form);
}
