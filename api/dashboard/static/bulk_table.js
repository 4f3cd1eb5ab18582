// Table: the rows of many things at once, each with its picture, name, state and texts, which are edited in place.

import { csv, xlsx, zip } from "./bulk_export.js";
import { credits, icon, make, withoutCommands } from "./try_dom.js";
import { installButton } from "./try_install.js";

/** Rows that are made at a time: the page stays at hand between them. */
const SLICE = 10;
/** The figures above the rows are renewed so often at most. */
const BAR_MS = 150;
const WORDS = { ready: "waiting", faulty: "left out", sending: "sending …", working: "working …", done: "done", failed: "failed", cancelled: "cancelled" };
const TONES = { done: "good", failed: "bad", faulty: "bad", sending: "busy", working: "busy" };

/** Return what shows rows: add, show, showAll, label, price. `act` has run, pause, stop, retry and save. */
export function startTable(state, act) {
  const list = make("ol", { class: "bulk-rows" });
  const bar = make("div", { class: "bulk-bar" });
  const tell = make("p", { class: "bulk-told", role: "status" });
  const note = make("div", { class: "note", hidden: true });
  const queue = [];
  const table = { label: () => label(state), price: () => price(state) };
  table.add = (rows) => {
    if (!list.isConnected) state.page.result.replaceChildren(tell, note, bar, list);
    queue.push(...rows);
    if (queue.length === rows.length) requestAnimationFrame(grow);
    table.showBar();
  };
  const grow = () => {
    list.append(...queue.splice(0, SLICE).map((row) => makeRow(state, row, act)));
    if (queue.length) requestAnimationFrame(grow);
  };
  table.show = (row) => {
    if (row.element) showRow(state, row, act);
    table.showBar();
  };
  let isDue = false;
  table.showBar = () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      showBar(state, bar, tell, act);
      advise(state, note);
    }, BAR_MS);
  };
  table.showAll = () => {
    for (const row of state.rows) if (row.element) showRow(state, row, act);
    table.showBar();
  };
  table.remove = (rows) => rows.forEach((row) => row.element?.remove());
  return table;
}

const count = (state, ...states) => state.rows.filter((row) => states.includes(row.state)).length;
const things = (state, number) => `${number.toLocaleString()} ${state.how.noun[number === 1 ? 0 : 1]}`;

function label(state) {
  const ready = count(state, "ready");
  return ready && !state.isRunning ? `${state.how.verb} ${things(state, ready)}` : "";
}

/** Say what it costs, and the limits of the account before they bite. */
function price(state) {
  const ready = state.rows.filter((row) => row.state === "ready");
  const known = ready.map((row) => row.credits ?? state.how.cost);
  const { available, per_minute: perMinute, per_day: perDay } = state.account;
  if (!ready.length || state.isRunning) return "";
  const sum = known.reduce((total, one) => total + one, 0);
  const told = [`${credits(sum)}${state.how.isLeast ? " or more" : ""}; you have ${available?.toLocaleString()}.`];
  if (sum > available) told.push("They don't suffice for all.");
  if (perDay && ready.length > perDay) told.push(`Your plan takes ${perDay.toLocaleString()} a day: the rest waits until tomorrow.`);
  else if (perMinute && state.how.most === 1 && ready.length > perMinute) told.push(`Your plan takes ${perMinute} a minute: about ${Math.ceil(ready.length / perMinute)} minutes.`);
  return told.join(" ");
}

function showBar(state, bar, tell, act) {
  const known = {};
  for (const row of state.rows) known[row.state] = (known[row.state] ?? 0) + 1;
  const done = known.done ?? 0;
  const accepted = state.rows.filter((row) => row.accepted).length;
  const key = JSON.stringify([known, accepted, state.note, state.isRunning, state.isPaused]);
  if (bar.dataset.key === key) return;
  bar.dataset.key = key;
  const failed = state.rows.filter((row) => row.state === "failed" && row.file !== undefined);
  const total = state.rows.length - (known.faulty ?? 0);
  const left = known.ready ?? 0;
  const facts = [`${done} of ${things(state, total)} done`, ...["failed", "cancelled", "faulty"].map((name) => known[name] && `${known[name]} ${WORDS[name]}`)];
  tell.textContent = [`${facts.filter(Boolean).join(", ")}.`, state.note, state.isPaused && state.isRunning ? "Pausing …" : ""].filter(Boolean).join(" ");
  const progress = make("progress", { max: total || 1, value: done + (known.failed ?? 0) + (known.cancelled ?? 0), "aria-label": "Progress" });
  const button = (text, click, more = {}) => make("button", { type: "button", class: "second small", click, ...more }, text);
  const actions = state.isRunning
    ? [!state.isPaused && button("Pause", act.pause), button("Cancel", act.stop)]
    : [left && done ? button(`Continue with ${things(state, left)}`, act.run) : null, failed.length ? button(`Try ${things(state, failed.length)} again`, () => act.retry(failed)) : null];
  const focused = bar.contains(document.activeElement) ? document.activeElement.textContent : null;
  bar.replaceChildren(progress, ...[...actions, ...(done ? results(state, act, button) : [])].filter(Boolean));
  if (focused) [...bar.querySelectorAll("button")].find((one) => one.textContent === focused)?.focus();
}

/** Say once what would make the texts better, with a button that installs it. */
function advise(state, note) {
  const advice = note.hidden && state.rows.find((row) => row.advice)?.advice;
  if (!advice) return;
  note.hidden = false;
  note.append(withoutCommands(advice), state.how.family ? installButton(state.how.family) : "");
}

/** Return what is done with results: accept, and save as files. */
function results(state, act, button) {
  const finished = state.rows.filter((row) => row.state === "done");
  const accepted = finished.filter((row) => row.accepted);
  // The figures here may be a moment old when a button is pressed.
  const chosen = () => (state.rows.some((row) => row.accepted) ? state.rows.filter((row) => row.accepted) : state.rows.filter((row) => row.state === "done"));
  const all = accepted.length < finished.length && button("Accept all", () => finished.forEach((row) => accept(state, row, true, act)));
  const what = accepted.length ? `${accepted.length} accepted` : "all";
  const name = state.how.file_name ?? "pressroom";
  const forms = {
    CSV: async () => [csv(cells(state, chosen())), `${name}.csv`],
    Excel: async () => [await xlsx(cells(state, chosen())), `${name}.xlsx`],
    ZIP: async () => [await zip([[`${name}.csv`, csv(cells(state, chosen()))], ...(await state.how.files(chosen()))]), `${name}.zip`],
  };
  const saves = Object.entries(forms).map(([form, write]) => button(form, async () => save(...(await write())), { "aria-label": `Download ${what} as ${form}` }));
  return [all, make("span", { class: "bulk-saves" }, `Download ${what}:`, saves)];
}

function save(bytes, name) {
  const href = URL.createObjectURL(bytes);
  make("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/** Return the table of rows: the columns of the reader's own list, or the name, and then the texts. */
function cells(state, rows) {
  const own = state.ownColumns ?? ["name"];
  const columns = [...state.how.columns(rows), ...(state.how.told ?? [])];
  const row = (one) => [...(one.cells ? own.map((_, place) => one.cells[place] ?? "") : [one.name, ...own.slice(1).map(() => "")]), ...columns.map((column) => one.texts[column.name] ?? "")];
  return [[...own, ...columns.map((column) => column.name)], ...rows.map(row)];
}

function accept(state, row, isAccepted, act) {
  if (Boolean(row.accepted) === isAccepted) return;
  row.accepted = isAccepted;
  act.save(row);
  state.table.show(row);
}

function makeRow(state, row, act) {
  row.element = make("li", { class: "bulk-row" }, make("div", { class: "bulk-picture" }), make("div", { class: "bulk-name" }), make("div", { class: "bulk-texts" }));
  showRow(state, row, act);
  return row.element;
}

function showRow(state, row, act) {
  const [picture, name, texts] = row.element.children;
  const shown = row.thumbnail ?? row.shown_by;
  const key = [row.state, row.name, row.fault, row.accepted, row.progress?.done, Boolean(shown)].join("|");
  if (row.key === key) return;
  const wasDone = row.key?.startsWith("done|") && row.state === "done";
  row.key = key;
  if (shown && !picture.children.length) picture.append(preview(row, shown));
  const percent = row.state === "working" && row.progress?.total > 1 ? ` ${Math.round((100 * row.progress.done) / row.progress.total)} %` : "";
  name.replaceChildren(
    row.job && row.state === "done" ? make("a", { href: `/dashboard/jobs/${row.job}` }, row.name) : row.name,
    make("span", { class: `badge ${TONES[row.state] ?? "plain"}` }, row.accepted ? "accepted" : row.draft ? "draft, free" : WORDS[row.state] + percent),
    row.fault ? make("p", { class: "error" }, row.fault) : "",
  );
  if (row.state === "done" && !wasDone) texts.replaceChildren(...editors(state, row, act));
  const box = texts.querySelector(".bulk-accept input");
  if (box) box.checked = Boolean(row.accepted);
}

function preview(row, shown) {
  if (/\.(wav|mp3|ogg|m4a|flac|webm)(\?|$)/.test(shown)) return make("button", { type: "button", class: "second small", "data-play": shown, "aria-label": `Play ${row.name}` }, icon("play"));
  return make("img", { src: shown, alt: "", loading: "lazy", width: 96 });
}

/** Return a field for each text of a row, and the box that accepts it; Ctrl+Enter accepts and goes on to the next. */
function editors(state, row, act) {
  const fields = state.how.columns([row]).map((column) => {
    const area = make("textarea", { rows: column.rows ?? 2, "aria-label": `${column.label}: ${row.name}` });
    area.value = row.texts[column.name] ?? "";
    const length = make("small", {}, `${[...area.value].length} characters`);
    area.addEventListener("input", () => (length.textContent = `${[...area.value].length} characters`));
    area.addEventListener("change", () => {
      row.texts[column.name] = area.value;
      act.save(row);
    });
    area.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      area.dispatchEvent(new Event("change"));
      accept(state, row, true, act);
      row.element.nextElementSibling?.querySelector("textarea")?.focus();
    });
    return make("div", { class: "bulk-text" }, make("span", { class: "bulk-label" }, column.label, " ", length), area);
  });
  const box = make("input", { type: "checkbox", "aria-label": `Accept ${row.name}`, change: (event) => accept(state, row, event.target.checked, act) });
  return [...(state.how.preview?.(row) ?? []), ...fields, make("label", { class: "tick bulk-accept" }, box, "Accept")];
}
