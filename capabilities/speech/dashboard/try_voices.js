// Voices: a list to choose from by listening. A sample is spoken through /tts, once a day for one credit.

import { make } from "./try_dom.js";
import { carryOut } from "./try_job.js";
import { player } from "./try_player.js";
import { sampleText } from "./try_samples.js";

/** Rows that are shown at once; the filters bring the others. */
const SHOWN = 60;

/** Put the list in place of a form's field of the voice, and keep that field's value. */
export async function startVoices(form) {
  const field = form.querySelector('[data-field="voice_name"]');
  const list = field.querySelector("[data-voices]");
  const voices = (await (await fetch("/tts/voices")).json()).voices;
  const state = { form, voices, list, input: form.elements.voice_name, audio: player("", "Sample"), samples: new Map(), playing: null };
  const language = field.querySelector("[data-voice-language]");
  language.append(...languages(voices).map(([code, name]) => make("option", { value: code }, name)));
  language.value = startLanguage(voices);
  state.shownLanguage = () => language.value;
  language.addEventListener("change", (event) => {
    event.stopPropagation();
    state.input.value = "";
    showVoices(state);
    form.dispatchEvent(new Event("change"));
  });
  state.audio.addEventListener("ended", () => stop(state));
  showVoices(state);
}

/** Return the languages of voices as pairs of code and name, by name. */
function languages(voices) {
  const codes = new Set(voices.flatMap((voice) => voice.language_codes.map(baseOf)));
  return [...codes].map((code) => [code, languageName(code)]).sort((one, other) => one[1].localeCompare(other[1]));
}

function languageName(code) {
  try {
    return new Intl.DisplayNames([document.documentElement.lang || "en"], { type: "language" }).of(code) ?? code;
  } catch {
    return code;
  }
}

function baseOf(code) {
  return code.split("-")[0].toLowerCase();
}

/** The language of the texts that the page begins with, if some voice has it. */
function startLanguage(voices) {
  const own = baseOf(document.documentElement.lang || "en");
  return voices.some((voice) => voice.language_codes.some((code) => baseOf(code) === own)) ? own : baseOf(voices[0]?.language_codes[0] ?? own);
}

function showVoices(state) {
  const wanted = state.voices.filter((voice) => voice.language_codes.some((code) => baseOf(code) === state.shownLanguage()));
  const rows = wanted.slice(0, SHOWN).map((voice) => row(state, voice));
  const any = make("li", {}, choice(state, "", "Automatic", "the best voice for the text"));
  state.list.replaceChildren(any, ...rows);
  if (wanted.length > SHOWN) state.list.append(make("li", { class: "faint" }, `And ${wanted.length - SHOWN} more: GET /tts/voices lists all.`));
}

function row(state, voice) {
  const about = [voice.ssml_gender?.toLowerCase(), voice.quality, voice.is_slow ? "slow" : null, voice.local === false ? "not local" : null, voice.engine];
  const button = make("button", { type: "button", class: "second small", "aria-label": `Listen to ${voice.name}`, "aria-pressed": "false" }, "Listen");
  button.addEventListener("click", () => (state.playing === button ? stop(state) : listen(state, voice, button)));
  return make("li", {}, choice(state, voice.id, voice.name, `${voice.language_codes[0]}, ${about.filter(Boolean).join(", ")}`), button);
}

function choice(state, id, name, about) {
  const radio = make("input", { type: "radio", name: "voice-choice", value: id });
  radio.checked = state.input.value === id;
  radio.addEventListener("change", () => {
    state.input.value = id;
    state.form.dispatchEvent(new Event("change"));
  });
  return make("label", {}, radio, " ", make("span", {}, make("strong", {}, name), make("span", { class: "faint" }, ` ${about}`)));
}

async function listen(state, voice, button) {
  stop(state);
  state.playing = button;
  button.setAttribute("aria-pressed", "true");
  button.textContent = "…";
  try {
    const sample = state.samples.get(voice.id) ?? (await speak(voice));
    state.samples.set(voice.id, sample);
    if (state.playing !== button) return;
    button.textContent = "Stop";
    state.audio.src = URL.createObjectURL(sample);
    await state.audio.play();
  } catch (error) {
    stop(state);
    button.textContent = "Failed";
    button.title = error.message;
  }
}

async function speak(voice) {
  const fields = { text: sampleText(voice.language_codes[0]), voice_name: voice.id };
  // Under the same key it is the same job for a day: heard again, it is not charged again.
  const answer = await carryOut({ path: "/tts", fields }, {}, { key: `voice-sample ${voice.id.replace(/[^\x20-\x7e]/g, "?")}`.slice(0, 200) });
  return answer.blob();
}

function stop(state) {
  state.audio.pause();
  if (!state.playing) return;
  state.playing.setAttribute("aria-pressed", "false");
  state.playing.textContent = "Listen";
  state.playing = null;
}
