// Bulk: many pictures, recordings or posts at once, or the rows of a list, in a table that fills in.
//
// A page gives `how`: {noun: [one, many], verb, columns(fields), takes(file), prepare(file), most, atOnce, cost,
// request(rows, fields, account), texts(result, row), files(rows)}, and `kind` if it is not the chosen one; `uploads`
// if a file may be uploaded first. With `isSound` a
// result is not read but played; `family` names the engines whose model may be installed. A row is {name, file, fields, cells, state, texts, …}; its
// state is ready, faulty, sending, working, done, failed or cancelled. All jobs of a table have its id as X-Request-Id,
// by which it is found again.

import { isSheet, rowsOf, tooLarge } from "./bulk_files.js";
import { startSheets } from "./bulk_sheet.js";
import { startTable } from "./bulk_table.js";
import { cancel, isFinal, keepTexts, send } from "./try_job.js";
import { readFields } from "./try_request.js";

const LOOK_MS = 1_000;
/** A form may have 25 MB more than its texts. */
const MOST_FORM_BYTES = 24_000_000;
const TABLE = /^table-[0-9a-f-]{36}$/;

/** Let a page take many files; `page` is that of try_page.js. Returns what it asks: isOn, run, label and price. */
export function startBulk(page, how) {
  const state = newState(how, page);
  const input = page.form.elements[how.file];
  input.addEventListener("change", () => {
    const files = [...input.files];
    input.setCustomValidity(how.prepare ? "" : files.map((file) => tooLarge(file, state.account, how)).find(Boolean) ?? "");
    const isList = files.length === 1 && isSheet(files[0]);
    if (!isList && files.length < 2 && !state.rows.length) {
      how.alone?.(files[0], page); // one alone has the page to itself
      return;
    }
    input.value = "";
    for (const file of files.filter(isSheet)) state.sheets.read(file);
    addRows(state, rowsOf(files.filter((file) => !isSheet(file)), how, state.account, state.table.show));
  });
  const known = new URLSearchParams(location.search).get("table");
  if (TABLE.test(known ?? "")) reopen(state, known);
  return {
    isOn: () => state.rows.length > 0 || state.sheets.isOpen(),
    run: () => run(state),
    label: () => state.table.label(),
    price: () => state.table.price(),
  };
}

/** Show the tables of jobs, as on their own pages. */
export async function showJobs(how, jobs, place) {
  const state = newState(how, { result: place, status: place.querySelector("[data-status]") ?? place, update() {} });
  state.id = jobs[0].request_id;
  await adopt(state, jobs);
  if (state.open.size) run(state);
}

function newState(how, page) {
  const account = JSON.parse(page.form?.dataset.account ?? "{}");
  const state = { how, page, account, id: `table-${crypto.randomUUID?.() ?? fallbackId()}`, rows: [], open: new Map(), isRunning: false, isPaused: false, waitsUntil: 0, failures: 0, note: "" };
  let saved = Promise.resolve(); // one after the other: "Accept all" is 500 of them
  state.fields = () => readFields(page.form, how.kind ?? page.kind().name);
  state.table = startTable(state, { run: () => run(state), pause: () => pause(state), stop: () => stop(state), retry: (rows) => again(state, rows), save: (row) => (saved = saved.then(() => keepTexts(row.job, row.index, row.texts, Boolean(row.accepted)))) });
  state.sheets = page.form ? startSheets(state, (rows) => addRows(state, rows)) : { isOpen: () => false };
  return state;
}

// Over plain http there is no randomUUID.
function fallbackId() {
  const hex = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

function addRows(state, rows) {
  if (!rows.length) return;
  state.rows.push(...rows);
  state.table.add(rows);
  state.page.update();
  Promise.all(rows.map((row) => row.prepared)).then(() => state.page.update()); // they may cost more than was known
}

/** Send what is ready, some at a time, and follow it until all has ended. */
async function run(state) {
  if (state.isRunning) return;
  Object.assign(state, { isRunning: true, isPaused: false, isStopped: false, failures: 0, note: "" });
  if (state.rows.some((row) => row.state === "ready")) history.replaceState(null, "", `?table=${state.id}`);
  state.page.update();
  try {
    while (true) {
      await sendSome(state);
      state.table.showAll();
      if (!state.open.size && (state.isPaused || !waiting(state).length)) break;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      await look(state).catch((error) => waitOut(state, error));
    }
  } catch (error) {
    state.note = error.message;
    state.isPaused = true;
  }
  state.isRunning = false;
  state.table.showAll();
  state.page.update();
}

const waiting = (state) => state.rows.filter((row) => row.state === "ready");

async function sendSome(state) {
  while (!state.isPaused && Date.now() >= state.waitsUntil && state.open.size < state.how.atOnce) {
    const rows = await nextRows(state);
    if (!rows.length) return;
    await sendRows(state, rows);
  }
}

/** Return the next rows of one request: as many as it may have, and as fit a form. */
async function nextRows(state) {
  const rows = [];
  let bytes = 0;
  for (const row of waiting(state)) {
    await row.prepared;
    if (row.state !== "ready") continue;
    bytes += (row.smaller ?? row.file)?.size ?? 0;
    const isOther = rows.length && Boolean(rows[0].file) !== Boolean(row.file);
    if (rows.length === state.how.most || isOther || (rows.length && bytes > MOST_FORM_BYTES)) break;
    rows.push(row);
  }
  return rows;
}

async function sendRows(state, rows) {
  rows.forEach((row) => state.table.show(Object.assign(row, { state: "sending", fault: "" })));
  const own = { "X-Request-Id": state.id, "Idempotency-Key": `${state.id} ${state.rows.indexOf(rows[0])} ${rows.length} ${rows[0].tries ?? 0}`, Prefer: "respond-async" };
  try {
    const { path, body, headers = {} } = await state.how.request(rows, state.fields(), state.account);
    const answer = await send(path, { method: "POST", body, headers: { ...headers, ...own } });
    const job = answer.headers.get("X-Job-Id");
    rows.forEach((row, index) => Object.assign(row, { state: "working", job, index }));
    state.open.set(job, { rows, seen: "" });
    state.failures = 0;
    // Pressed while it was sent.
    if (state.isStopped || (state.isPaused && rows.length > 1)) await cancel(job);
  } catch (error) {
    refuse(state, rows, error);
  }
  rows.forEach(state.table.show);
}

/** Put rows back that can't be sent yet; what is wrong with them is theirs. */
function refuse(state, rows, error) {
  const isOwn = [400, 413, 415, 422].includes(error.status);
  rows.forEach((row) => Object.assign(row, isOwn ? { state: "failed", fault: error.message } : { state: state.isStopped ? "cancelled" : "ready" }));
  if (!isOwn) waitOut(state, error);
}

/** Go on later after an error that passes; any other ends the run. */
function waitOut(state, error) {
  if (isFinal(error, ++state.failures)) throw error;
  state.waitsUntil = Date.now() + 1_000 * (error.retryAfter || 5);
  state.note = `${error.message} It goes on by itself at ${new Date(state.waitsUntil).toLocaleTimeString()}.`;
}

/** Read how far the open jobs are, and the rows of those that have come further. */
async function look(state) {
  if (Date.now() >= state.waitsUntil) state.note = "";
  if (!state.open.size) return;
  const found = await (await send(`/jobs?request_id=${encodeURIComponent(state.id)}&state=queued,running&limit=100`)).json();
  state.failures = 0;
  const running = new Map(found.map((job) => [job.id, job]));
  for (const [id, open] of [...state.open]) {
    const job = running.get(id);
    const seen = job && `${job.state} ${job.progress.done} ${job.progress.failed}`;
    if (seen === open.seen) continue;
    if (job && open.rows.length === 1) open.rows.forEach((row) => state.table.show(Object.assign(row, { progress: job.progress })));
    else await readRows(state, id, open.rows);
    open.seen = seen;
    if (!job) state.open.delete(id);
  }
}

async function readRows(state, job, rows) {
  for (const told of await (await send(`/dashboard/jobs/${job}/rows`)).json()) {
    const row = rows[told.index];
    if (!row || row.state === "done") continue;
    if (told.error && told.state === "cancelled" && state.isPaused && row.file !== undefined) Object.assign(row, { state: "ready", tries: (row.tries ?? 0) + 1 });
    else if (told.error) Object.assign(row, { state: told.state, fault: told.error });
    else await take(state, row, told);
    state.table.show(row);
  }
}

async function take(state, row, told) {
  row.state = "done";
  row.shown_by = told.shown_by ?? null;
  const result = told.result ?? (state.how.isSound ? null : await read(row.job));
  Object.assign(row, state.how.texts(result, row));
  if (told.edited) Object.assign(row, { texts: { ...row.texts, ...told.edited.texts }, accepted: told.edited.accepted });
}

async function read(job) {
  const answer = await send(`/jobs/${job}/result`);
  return (answer.headers.get("Content-Type") ?? "").startsWith("application/json") ? answer.json() : answer.text();
}

async function pause(state) {
  state.isPaused = true;
  state.table.showAll();
  // A batch ends at once, and what it has not delivered is sent anew later; one row alone is let finish.
  await Promise.all([...state.open].filter(([, open]) => open.rows.length > 1).map(([id]) => cancel(id)));
}

async function stop(state) {
  state.isStopped = true;
  waiting(state).forEach((row) => state.table.show(Object.assign(row, { state: "cancelled" })));
  await Promise.all([...state.open.keys()].map(cancel));
  state.table.showAll();
}

function again(state, rows) {
  rows.forEach((row) => Object.assign(row, { state: "ready", fault: "", tries: (row.tries ?? 0) + 1 }));
  run(state);
}

/** Show a table again, by its id: its jobs and their rows. */
async function reopen(state, id) {
  state.id = id;
  const jobs = [];
  for (let page; !page || page.length === 100; ) {
    page = await (await send(`/jobs?request_id=${id}&limit=100&offset=${jobs.length}`)).json();
    jobs.push(...page);
  }
  await adopt(state, jobs.reverse());
  if (state.open.size) run(state);
}

async function adopt(state, jobs) {
  for (const job of jobs) {
    const rows = Array.from({ length: job.progress.unit === state.how.unit ? job.progress.total : 1 }, (_, index) => ({ name: "", state: "working", texts: {}, job: job.id, index }));
    if (!job.finished_at) state.open.set(job.id, { rows, seen: "" });
    addRows(state, rows);
    const told = await (await send(`/dashboard/jobs/${job.id}/rows`)).json().catch(() => []);
    for (const one of told) if (rows[one.index]) rows[one.index].name = one.name ?? job.name ?? "";
    await readRows(state, job.id, rows);
  }
  // Items that a pause cancelled were sent again.
  const isOver = (row) => row.state === "cancelled" && jobs.length > 1;
  state.table.remove(state.rows.filter(isOver));
  state.rows = state.rows.filter((row) => !isOver(row));
  state.table.showAll();
}
