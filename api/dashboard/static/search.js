// Search: jobs and pages from anywhere, by Ctrl+K, Cmd+K or `/`; and the buttons that play a sound of a list.
//
//   <button data-play="/files/…">          plays a sound, or ends it

import { api } from "./live.js";
import { icon, make } from "./try_dom.js";

const WAIT_MS = 200;
const LINKS = ".side a, .menu a";
const TYPED = "input, textarea, select, [contenteditable]";

let dialog;

function open() {
  dialog ??= makeDialog();
  if (dialog.open) return;
  dialog.showModal();
  const field = dialog.querySelector("input");
  field.value = "";
  field.dispatchEvent(new Event("input"));
}

function makeDialog() {
  const field = make("input", { type: "search", placeholder: "A file, a title, some words, or a page", "aria-label": "Search", role: "combobox", "aria-expanded": "true", "aria-controls": "search-found", autocomplete: "off", maxlength: "200" });
  const found = make("ul", { id: "search-found", role: "listbox", "aria-label": "Found" });
  const made = make("dialog", { class: "search", "aria-label": "Search" }, field, found);
  let timer;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    const words = field.value;
    show(found, pages(words), "Searching …");
    timer = setTimeout(async () => {
      const jobs = await findJobs(words);
      if (words === field.value) show(found, [...pages(words), ...jobs], "Nothing found.");
    }, WAIT_MS);
  });
  field.addEventListener("keydown", (event) => move(found, event));
  made.addEventListener("click", (event) => event.target === made && made.close());
  document.body.append(made);
  return made;
}

function pages(words) {
  const wanted = words.trim().toLowerCase();
  const known = new Map([...document.querySelectorAll(LINKS)].map((link) => [link.getAttribute("href"), link.textContent.trim()]));
  return [...known].filter(([, title]) => !wanted || title.toLowerCase().includes(wanted)).slice(0, 6).map(([href, title]) => ({ href, title, what: "Page" }));
}

async function findJobs(words) {
  const query = words.trim() ? `?q=${encodeURIComponent(words.trim())}` : "";
  const answer = await api(`/dashboard/search${query}`).catch(() => null);
  return answer?.ok ? answer.json() : [];
}

function show(list, found, none) {
  const options = found.map(({ href, title, what, link }, place) => make("li", { role: "option", id: `found-${place}`, "data-href": href, click: () => location.assign(href) },
    link ? make("img", { src: link, alt: "", width: 32, height: 32 }) : "", make("span", {}, title), make("small", {}, what)));
  list.replaceChildren(...(options.length ? options : [make("li", { role: "option", "aria-disabled": "true", class: "faint" }, none)]));
  mark(list, 0);
}

const optionsOf = (list) => [...list.querySelectorAll("[data-href]")];

function mark(list, place) {
  const options = optionsOf(list);
  options.forEach((one, at) => one.setAttribute("aria-selected", String(at === place)));
  options[place]?.scrollIntoView({ block: "nearest" });
  dialog?.querySelector("input").setAttribute("aria-activedescendant", options[place]?.id ?? "");
}

function move(list, event) {
  const options = optionsOf(list);
  const place = options.findIndex((one) => one.getAttribute("aria-selected") === "true");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Enter") options[place]?.click();
  if (!step && event.key !== "Enter") return;
  event.preventDefault();
  if (step && options.length) mark(list, (place + step + options.length) % options.length);
}

const sound = new Audio();
let playing;

function play(button) {
  playing?.replaceChildren(icon("play"));
  if (playing === button) sound.pause();
  else {
    sound.src = button.dataset.play;
    sound.play().catch(() => null);
    button.replaceChildren(icon("square"));
  }
  playing = playing === button ? null : button;
}

sound.addEventListener("ended", () => playing && play(playing));
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-play]");
  if (button) play(button);
});
document.addEventListener("keydown", (event) => {
  const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest(TYPED);
  const isK = event.key?.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
  if (!isSlash && !isK) return;
  event.preventDefault();
  open();
});
for (const button of document.querySelectorAll("[data-search]")) {
  button.hidden = false;
  button.addEventListener("click", open);
}
