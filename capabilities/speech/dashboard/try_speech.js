// Speech: a voice is picked by listening, and a text is heard.

import { credits } from "./try_dom.js";
import { startDrops } from "./try_files.js";
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
  startDrops(form);
  startLexicon(form.querySelector("[data-lexicon]"));
  await startVoices(form);
}
