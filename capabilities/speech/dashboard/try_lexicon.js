// Lexicon: the account's words that are spoken in another way than they are written, edited in place.

import { icon, make } from "./try_dom.js";
import { say } from "./live.js";
import { send } from "./try_job.js";

const ROUTE = "/tts/lexicon";

/** Fill a fold with the account's words when it is opened for the first time. */
export function startLexicon(fold) {
  fold.addEventListener("toggle", () => fill(fold).catch((error) => say(error.message, "bad")), { once: true });
}

async function fill(fold) {
  const list = make("ul", { class: "entries" });
  const { entries } = await (await send(ROUTE)).json();
  list.append(...entries.map(rowOf), rowOf());
  const add = make("button", { type: "button", class: "second small", click: () => addRow(list) }, icon("plus"), "Another word");
  const save = make("button", { type: "button", class: "small", click: () => keep(list).catch((error) => say(error.message, "bad")) }, "Save words");
  list.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.ctrlKey || event.target.localName !== "input") return;
    event.preventDefault(); // not the whole form
    addRow(list);
  });
  fold.querySelector("[data-entries]").replaceChildren(list, make("p", { class: "actions" }, add, save));
}

function addRow(list) {
  const row = rowOf();
  list.append(row);
  row.querySelector("input").focus();
}

/** Return a row of a word; it keeps what the entry has besides, such as its language. */
function rowOf(entry = {}) {
  const field = (name, label) => make("input", { "data-entry": name, value: entry[name] ?? "", "aria-label": label, placeholder: label, maxlength: 200, autocomplete: "off" });
  const remove = make("button", { type: "button", class: "only", "aria-label": `Remove ${entry.word ?? "this word"}`, click: () => row.remove() }, icon("x"));
  const row = make("li", {}, field("word", "Word"), field("replacement", "Sounds like"), remove);
  row.entry = entry;
  return row;
}

async function keep(list) {
  const entries = [...list.children].map((row) => {
    const [word, replacement] = [...row.querySelectorAll("input")].map((field) => field.value.trim());
    return { ...row.entry, word, replacement };
  });
  const named = entries.filter((entry) => entry.word);
  const headers = { "Content-Type": "application/json" };
  await send(ROUTE, { method: "PUT", headers, body: JSON.stringify({ entries: named }) });
  say(named.length === 1 ? "One word is saved." : `${named.length} words are saved.`, "good");
}
