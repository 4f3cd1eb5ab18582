// DOM: elements made of texts, never of markup, as all that is shown may come from somebody hostile.

/** Return an element. Children are elements and texts; of the attributes, functions are listeners. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

/** Return an icon of icons.svg. */
export function icon(name) {
  const [picture, use] = ["svg", "use"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  picture.setAttribute("class", "icon");
  picture.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `${new URL("icons.svg", import.meta.url).pathname}#${name}`);
  picture.append(use);
  return picture;
}

/** Return the address of a file on the page's own origin, whatever origin its link was made for. */
export function ownFile(link) {
  const url = new URL(link, location.href);
  const start = url.pathname.lastIndexOf("/files/");
  return start < 0 ? "about:blank" : url.pathname.slice(start) + url.search;
}

/** Return a web address for a link; nothing for any other scheme, such as javascript:. */
export function webAddress(text) {
  try {
    const url = new URL(text);
    return ["http:", "https:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** Return a link that saves bytes, or an address, under a name. */
export function saveLink(source, name, label) {
  const href = source instanceof Blob ? URL.createObjectURL(source) : source;
  return make("a", { class: "button second small", href, download: name }, icon("download"), label);
}

/** Return a button that copies a text, which a function tells. */
export function copyButton(text, label = "Copy") {
  const show = (name, words) => button.replaceChildren(icon(name), words);
  const button = make("button", { type: "button", class: "second small" }, icon("copy"), label);
  button.addEventListener("click", async () => {
    const copied = await copy(text());
    show(copied ? "check" : "copy", copied ? "Copied" : "Press Ctrl+C");
    setTimeout(show, 2_000, "copy", label);
  });
  return button;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text); // over plain http, browsers have no clipboard
  }
}

function copyBySelection(text) {
  const area = make("textarea", { class: "hidden", "aria-hidden": "true", tabindex: "-1" });
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  return copied;
}

/** Return a list of facts, without those that are not known; those that few readers want are folded. */
export function facts(pairs, folded = []) {
  const [shown, hidden] = [pairs, folded].map((some) => some.filter(([, value]) => value !== null && value !== undefined && value !== ""));
  const list = (some) => make("dl", { class: "facts" }, some.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
  if (!hidden.length) return list(shown);
  return make("div", {}, list(shown), make("details", {}, make("summary", {}, "Details"), list(hidden)));
}

/** Return the notes of an answer, each a paragraph. */
export function notes(texts) {
  return texts.filter(Boolean).map((text) => make("p", { class: "note" }, withoutCommands(text)));
}

/** Return a text without its sentences about commands, which readers of pages can't enter. */
export function withoutCommands(text) {
  const sentences = text.split(/(?<=[.!?)]) (?=\S)/);
  return sentences.filter((sentence) => !sentence.includes("`")).join(" ") || text.replaceAll("`", "");
}

/** Return seconds as minutes and seconds. */
export function clock(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** Return what the page's readers call a language; its code, if that has no name. */
export function languageName(code) {
  try {
    return new Intl.DisplayNames([pageLanguage()], { type: "language" }).of(code);
  } catch {
    return code;
  }
}

export function pageLanguage() {
  return document.documentElement.lang || "en";
}

export function credits(count) {
  return count === null || count === undefined ? null : `${Number(count).toLocaleString()} ${Number(count) === 1 ? "credit" : "credits"}`;
}
