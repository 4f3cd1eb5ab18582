// Shared by all pages. They work without it where that is reasonable.
//
//   <div data-refresh="5" id="jobs">       is fetched again every 5 seconds and replaced; its id stays the same
//     data-refresh-url="/dashboard/…"      from another address than the page's own
//   <div data-along-with="jobs" id="b">  is replaced along with it
//   <form data-confirm="Delete it?">       asks first
//   <button data-copy="text">              copies a text
//   <form data-live="#jobs">               is sent by fetch; the element with that id is replaced by the answer's
//   <input data-tick-all="ids">            ticks all boxes with that name
//   <time datetime="…">                    is shown in the reader's own time
//   <textarea> in a form                   Ctrl+Enter sends the form
//   <button data-theme-switch hidden>      goes through the looks: of the system, by day, by night
//
// Other modules: import { api, csrfToken, say } from "./live.js";

import { icon, make } from "./try_dom.js";

export const csrfToken = () => document.querySelector('meta[name="csrf-token"]').content;

// Fetch from a route of the API, or from a page, as who is signed in. A session that has ended leads to the sign-in page.
export async function api(path, options = {}) {
  const headers = new Headers(options.headers);
  headers.set("X-CSRF-Token", csrfToken());
  const answer = await fetch(path, { ...options, headers, credentials: "same-origin" });
  if (answer.status === 401 || (answer.redirected && new URL(answer.url).pathname === "/dashboard/sign-in")) {
    location.reload();
  }
  return answer;
}

// Return the message of an error of the API, whatever its body is.
export async function messageOf(answer) {
  try {
    return (await answer.json()).message;
  } catch {
    return `The server answered ${answer.status}.`;
  }
}

// Tell the reader something, also one who can't see the page. Bad news stays until it is closed.
export function say(text, tone = "plain") {
  const said = make("p", { class: `flash ${tone}` }, text);
  document.querySelector(".toasts").replaceChildren(said);
  float(said, tone === "bad");
}

/** Milliseconds for which a message stays, and those for each of its characters. */
const LEAST_SHOWN_MS = 6_000;
const SHOWN_MS_A_CHARACTER = 90;

function float(said, stays) {
  said.append(make("button", { type: "button", class: "only", "aria-label": "Close", click: () => said.remove() }, icon("x")));
  const leave = () => {
    if (said.matches(":hover, :focus-within")) wait();
    else said.remove();
  };
  const wait = () => setTimeout(leave, LEAST_SHOWN_MS + SHOWN_MS_A_CHARACTER * said.textContent.length);
  if (!stays) wait();
}

// The look is kept in a cookie, so that the server sends pages in it and none flickers.
const LOOKS = { "": ["monitor", "as on this device"], light: ["sun", "light"], dark: ["moon", "dark"] };
const THEME_COOKIE = "pressroom_theme";

function look(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  const button = document.querySelector("[data-theme-switch]");
  const [picture, words] = LOOKS[theme];
  button.hidden = false;
  button.title = `Colours: ${words}`;
  button.setAttribute("aria-label", button.title);
  button.replaceChildren(icon(picture));
  button.onclick = () => {
    const names = Object.keys(LOOKS);
    const next = names[(names.indexOf(theme) + 1) % names.length];
    document.cookie = `${THEME_COOKIE}=${next}; path=/; max-age=${next ? 31_536_000 : 0}; SameSite=Lax`;
    look(next);
  };
}

export function showMoments(within = document) {
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  for (const time of within.querySelectorAll("time[datetime]:not([data-shown])")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    time.title = time.textContent;
    time.textContent = format.format(moment);
    time.dataset.shown = "";
  }
}

// Let a table stack its cells, each beside its column's heading, where it is too wide (style.css). Its roles are named,
// because browsers forget them when rows become blocks.
export function stackTables(within = document) {
  for (const table of within.querySelectorAll(".scrolls > table")) {
    const headings = [...table.querySelectorAll("thead tr > *")].map((heading) => heading.textContent.trim());
    const roles = { THEAD: "rowgroup", TBODY: "rowgroup", TR: "row", TD: "cell" };
    for (const part of table.querySelectorAll("thead, tbody, tr, td")) part.setAttribute("role", roles[part.tagName]);
    for (const heading of table.querySelectorAll("th")) heading.setAttribute("role", heading.scope === "row" ? "rowheader" : "columnheader");
    for (const row of table.tBodies[0]?.rows ?? []) {
      [...row.cells].forEach((cell, place) => {
        cell.dataset.heading = headings[place] ?? "";
        cell.toggleAttribute("data-empty", !cell.childElementCount && !cell.textContent.trim());
      });
    }
    table.setAttribute("role", "table");
    fit(table);
  }
}

function fit(table) {
  table.classList.remove("stacks");
  table.classList.toggle("stacks", table.parentElement.scrollWidth > table.parentElement.clientWidth);
}

// Put a part of a fetched page in the place of the one that is shown, unless the reader is at work in it.
function replace(part, page, { always = false } = {}) {
  const fresh = page.getElementById(part.id);
  if (!fresh) return part;
  const busy = part.contains(document.activeElement) && document.activeElement.matches("input, select, textarea, button");
  const ticked = part.querySelector("input[type=checkbox]:checked");
  if (!always && (busy || ticked)) return part;
  const open = new Set([...part.querySelectorAll("details[open][id]")].map((one) => one.id));
  const kept = document.importNode(fresh, true);
  for (const one of kept.querySelectorAll("details[id]")) one.open = one.open || open.has(one.id);
  part.replaceWith(kept);
  showMoments(kept);
  stackTables(kept);
  kept.dispatchEvent(new CustomEvent("replaced", { bubbles: true }));
  return kept;
}

async function fetchPage(path, options) {
  const answer = await api(path, { ...options, headers: { Accept: "text/html", ...options?.headers } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return { answer, page };
}

function keepFresh(part) {
  const seconds = Number(part.dataset.refresh);
  if (!seconds) return; // a page that has nothing more to wait for leaves the attribute out
  setTimeout(async () => {
    let current = document.getElementById(part.id);
    if (!current?.dataset.refresh) return;
    if (!document.hidden) {
      try {
        const { answer, page } = await fetchPage(current.dataset.refreshUrl || location.href);
        if (answer.ok) {
          current = replace(current, page);
          for (const other of document.querySelectorAll(`[data-along-with="${current.id}"]`)) replace(other, page);
        }
      } catch {
        // away for a moment; the next time may be better
      }
    }
    keepFresh(current);
  }, seconds * 1000);
}

async function copy(button) {
  button.dataset.label ??= button.textContent; // a second click finds "Copied"
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  } catch {
    // Only pages of https, or of this machine, may use the clipboard: the text is selected instead.
    const text = button.parentElement.querySelector("code, input, pre");
    if (text) getSelection().selectAllChildren(text);
    button.textContent = "Press Ctrl+C";
  }
  setTimeout(() => { button.textContent = button.dataset.label; }, 2000);
}

async function send(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  // By attribute: a field named "action" hides the form's own property.
  const action = submitter?.getAttribute("formaction") ?? form.getAttribute("action") ?? location.href;
  const { answer, page } = await fetchPage(action, { method: "POST", body });
  const flash = page.querySelector(".flash");
  const part = document.querySelector(form.dataset.live);
  if (part) replace(part, page, { always: true });
  if (flash) say(flash.textContent, flash.classList[1]);
  else if (!answer.ok) say(page.querySelector("main p")?.textContent ?? `The server answered ${answer.status}.`, "bad");
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  const question = event.submitter?.dataset.confirm ?? form.dataset.confirm;
  if (question && !confirm(question)) {
    event.preventDefault();
    return;
  }
  if (form.dataset.live) {
    event.preventDefault();
    send(form, event.submitter).catch(() => say("The server can't be reached. Try again.", "bad"));
  }
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button);
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.target.form?.requestSubmit();
});

document.addEventListener("change", (event) => {
  const all = event.target.closest("[data-tick-all]");
  if (!all) return;
  for (const box of document.getElementsByName(all.dataset.tickAll)) box.checked = all.checked;
});

look(document.cookie.match(`${THEME_COOKIE}=(light|dark)`)?.[1] ?? "");
for (const said of document.querySelectorAll(".toasts .flash")) float(said, said.matches(".bad"));
showMoments();
stackTables();
addEventListener("resize", () => document.querySelectorAll(".scrolls > table").forEach(fit));
for (const part of document.querySelectorAll("[data-refresh][id]")) keepFresh(part);
