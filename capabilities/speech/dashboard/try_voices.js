// Voices: a list to choose from by listening. A sample is spoken through /tts, once a day for one credit.

import { icon, languageName, make, pageLanguage } from "./try_dom.js";
import { say } from "./live.js";
import { carryOut } from "./try_job.js";
import { player } from "./try_player.js";
import { sampleText } from "./try_samples.js";

/** Rows that are shown at once; the filters bring the others. */
const SHOWN = 60;

/** Where this browser keeps its favourites. */
const FAVOURITES = "pressroom-voices";

/** The value of the language field that leaves the language to the service. */
const AUTO = "auto";

let voices = [];

export async function loadVoices() {
  voices = (await (await fetch("/tts/voices", { cache: "no-cache" })).json()).voices;
}

/** Fill the language field and the list of voices of a form. */
export async function startVoices(form) {
  const field = form.querySelector('[data-field="voice_name"]');
  await loadVoices();
  const { language, voice_name: input } = form.elements;
  const state = { form, language, input, list: field.querySelector("[data-voices]"), audio: player("", "Sample"), samples: new Map(), playing: null };
  const [natural, robotic] = [true, false].map((wanted) => languages().filter(([code]) => voices.some((one) => isNatural(one) && speaks(one, code)) === wanted));
  for (const [label, named] of [["Natural voices", natural], ["Robotic voices alone", robotic]]) {
    if (named.length) language.append(make("optgroup", { label }, named.map(([code, name]) => make("option", { value: code }, name))));
  }
  language.addEventListener("change", () => {
    input.value = "";
    showVoices(state);
  });
  state.audio.addEventListener("ended", () => stop(state));
  showVoices(state);
  form.dispatchEvent(new Event("change"));
}

/** Return the voice that spoke and its language, for the facts of a result. */
export function voiceFacts(id, asked) {
  const voice = voices.find((one) => one.id === id);
  const language = voice && languageName(voice.language_codes[0]);
  return [
    ["Voice", voice ? labelOf(voice) : id],
    ["Language", language && asked === AUTO ? `${language} (detected)` : language],
  ];
}

/** Return the languages of voices as pairs of code and name, by name; those without a name are left out. */
function languages() {
  const codes = new Set(voices.flatMap((voice) => voice.language_codes.map(baseOf)));
  const named = [...codes].map((code) => [code, languageName(code)]).filter(([code, name]) => name !== code);
  return named.sort((one, other) => one[1].localeCompare(other[1]));
}

function baseOf(code) {
  return code.split("-")[0].toLowerCase();
}

function speaks(voice, language) {
  return voice.language_codes.some((code) => baseOf(code) === language);
}

/** Return the voices of a language, each label once; to have it detected, the natural ones of all languages. */
function shownVoices(language) {
  const natural = language === AUTO ? voices.filter(isNatural) : [];
  const spoken = language === AUTO ? baseOf(pageLanguage()) : language;
  const own = (natural.length ? natural : voices).filter((voice) => speaks(voice, spoken));
  const others = natural.filter((voice) => !speaks(voice, spoken));
  return [...new Map([...own, ...others].map((voice) => [`${labelOf(voice)} ${accentOf(voice)} ${aboutOf(voice)}`, voice])).values()];
}

/** Return voices by accent, such as American English; the favourites come before all others. */
function byAccent(some) {
  const groups = new Map();
  const loved = favourites();
  for (const voice of some.toSorted((one, other) => loved.has(other.id) - loved.has(one.id))) {
    const name = loved.has(voice.id) ? "Favourites" : accentOf(voice);
    groups.set(name, [...(groups.get(name) ?? []), voice]);
  }
  return [...groups];
}

function favourites() {
  try {
    return new Set(JSON.parse(localStorage.getItem(FAVOURITES) ?? "[]"));
  } catch {
    return new Set();
  }
}

function favour(state, voice, isLoved) {
  const loved = favourites();
  if (isLoved) loved.add(voice.id);
  else loved.delete(voice.id);
  try {
    localStorage.setItem(FAVOURITES, JSON.stringify([...loved]));
  } catch {
    // Some browsers keep nothing in private windows.
  }
  showVoices(state);
  state.list.querySelector(`[data-star="${CSS.escape(voice.id)}"]`)?.focus();
}

function accentOf(voice) {
  const [code] = voice.language_codes;
  const name = languageName(code);
  return name === code ? voice.display_name.split(",")[0] : name;
}

function isNatural(voice) {
  return voice.quality === "natural";
}

/** Return what people call a voice: a robot's own name is a code, so its language and gender name it. */
function labelOf(voice) {
  return isNatural(voice) ? voice.name : voice.display_name.replace(/, robotic$/, "");
}

function aboutOf(voice) {
  if (!isNatural(voice)) return voice.local ? "" : "online";
  const about = [voice.ssml_gender?.toLowerCase(), voice.is_slow ? "slow" : null, voice.local ? null : "online"];
  return about.filter(Boolean).join(", ");
}

function showVoices(state) {
  const wanted = shownVoices(state.language.value);
  const natural = wanted.filter(isNatural);
  const robots = wanted.filter((voice) => !isNatural(voice));
  const rows = (some) => some.map((voice) => row(state, voice));
  const any = make("li", {}, choice(state, "", "Choose for me", "the best voice for the language"));
  const groups = byAccent(natural.slice(0, SHOWN)).flatMap(([name, some]) => [make("li", { class: "accent" }, name), ...rows(some)]);
  state.list.removeAttribute("aria-busy");
  state.list.replaceChildren(any, ...groups);
  if (natural.length > SHOWN) state.list.append(make("li", { class: "faint" }, `And ${natural.length - SHOWN} more: choose a language to see its voices.`));
  if (robots.length) {
    const folded = make("details", { open: !natural.length }, make("summary", {}, `Robotic voices (${robots.length})`), make("ul", {}, rows(robots.slice(0, SHOWN))));
    state.list.append(make("li", {}, folded));
  }
}

function row(state, voice) {
  const label = labelOf(voice);
  const button = make("button", { type: "button", class: "only", title: "Listen", "aria-label": `Listen to ${label}`, "aria-pressed": "false" }, icon("play"));
  button.addEventListener("click", () => (state.playing === button ? stop(state) : listen(state, voice, button)));
  const isLoved = favourites().has(voice.id);
  const star = make("button", { type: "button", class: "only star", "aria-label": `Favourite: ${label}`, "aria-pressed": String(isLoved), "data-star": voice.id, click: () => favour(state, voice, !isLoved) }, icon("star"));
  return make("li", {}, choice(state, voice.id, label, aboutOf(voice)), star, button);
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
  button.replaceChildren(make("span", { class: "spinner" }));
  try {
    const sample = state.samples.get(voice.id) ?? (await speak(voice));
    state.samples.set(voice.id, sample);
    if (state.playing !== button) return;
    button.replaceChildren(icon("square"));
    state.audio.src = URL.createObjectURL(sample);
    await state.audio.play();
  } catch (error) {
    stop(state);
    say(error.message, "bad");
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
  state.playing.replaceChildren(icon("play"));
  state.playing = null;
}
