// Page: the form of a capability, its lines, the job that it makes, and what came back.

import { clock, copyButton, languageName, make } from "./try_dom.js";
import { startDrops } from "./try_files.js";
import { cancel, carryOut, Refused } from "./try_job.js";
import { curlLines, javascriptLines, pythonLines } from "./try_lines.js";
import { fillForm, readFields, readFiles, showKind } from "./try_request.js";

const LANGUAGES = { curl: curlLines, python: pythonLines, javascript: javascriptLines };
const REMEMBERED = "pressroom-lines";

/**
 * Bring a page to life.
 *
 * `show(answer, context)` returns the elements of a result; `answer` is a Response, `context` {request, uploads, kind}.
 * `build(request, kind)` may change a request before it is shown and sent. `run(request, uploads, context)` carries it
 * out in another way than as a job. `many(page)` starts the table of many at once (bulk.js). Returns what pages
 * add to; null on a job's page, which has no form and shows results by the same scripts.
 */
export function start({ show, build = (request) => request, run, many }) {
  const form = document.querySelector("form[data-try]");
  if (!form) return null;
  const page = {
    form,
    kinds: JSON.parse(form.dataset.kinds),
    status: document.querySelector("[data-status]"),
    result: document.querySelector("[data-result]"),
    lines: document.querySelector("[data-lines]"),
    price: form.querySelector("[data-price]"),
    submit: form.querySelector("[data-submit]"),
  };
  page.kind = () => page.kinds[form.querySelector('[name="kind"]:checked')?.value ?? Object.keys(page.kinds)[0]];
  page.request = () => {
    const kind = page.kind();
    const uploads = readFiles(form, kind.name);
    const files = Object.fromEntries(Object.entries(uploads).map(([field, file]) => [field, file.name]));
    const plain = { path: kind.route, fields: readFields(form, kind.name), files, saves: kind.saves, client: kind.client };
    return { request: build(plain, kind, uploads), uploads, kind };
  };
  page.update = () => {
    showKind(form, page.kind().name);
    const isMany = page.bulk?.isOn();
    page.price.textContent = isMany ? page.bulk.price() : page.kind().price;
    page.submit.lastElementChild.textContent = isMany ? page.bulk.label() : page.submit.dataset.submit;
    page.submit.hidden = isMany && !page.bulk.label();
    showLines(page);
  };
  if (form.dataset.again) fillForm(form, JSON.parse(form.dataset.again));
  for (const option of form.elements.language?.options ?? []) if (option.text === option.value) option.text = languageName(option.value);
  startLines(page);
  startDrops(form);
  form.addEventListener("input", page.update);
  form.addEventListener("change", page.update);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (page.bulk?.isOn()) page.bulk.run();
    else perform(page, { show, run });
  });
  if (many) page.bulk = many(page);
  page.update();
  form.querySelector("[data-submit]").disabled = false;
  return page;
}

async function perform(page, { show, run }) {
  clearFaults(page.form);
  const context = page.request();
  if (!page.form.reportValidity()) return;
  const files = Object.values(context.uploads).map(({ name, size, lastModified }) => [name, size, lastModified]);
  const asked = JSON.stringify([context.request, files]);
  if (page.running?.asked === asked) return; // a double click would be two jobs
  page.running?.abort(new DOMException("Another request was sent.", "AbortError"));
  const running = (page.running = Object.assign(new AbortController(), { asked }));
  const button = page.form.querySelector("[data-submit]");
  button.setAttribute("aria-disabled", "true");
  page.result.replaceChildren(...[1, 2, 3].map(() => make("div", { class: "skeleton" })));
  page.status.parentElement.scrollIntoView({ block: "nearest" });
  const began = performance.now();
  try {
    const onJob = (job) => showJob(page, job, running);
    showJob(page, null, running);
    const carried = run && (await run(context.request, context.uploads, { ...context, onJob, signal: running.signal, page }));
    const answer = carried || (await carryOut(context.request, context.uploads, { onJob, signal: running.signal }));
    const shown = await show(answer, { ...context, page, signal: running.signal });
    const seconds = (performance.now() - began) / 1_000;
    page.status.replaceChildren(make("p", { class: "done" }, `Done in ${seconds.toFixed(1)} s.`));
    page.result.replaceChildren(...[shown].flat(Infinity).filter(Boolean));
  } catch (error) {
    for (const one of page.result.querySelectorAll(".skeleton")) one.remove();
    if (page.running === running) showFault(page, error);
  } finally {
    if (page.running === running) {
      page.running = null;
      button.removeAttribute("aria-disabled");
    }
  }
}

/** Say how far a job is, with a way to end it. */
function showJob(page, job, running) {
  const progress = job?.progress;
  const known = progress && progress.total > 1 && progress.done < progress.total;
  const words = !job ? "Sending …" : { queued: "Queued …", uploading: "Uploading …" }[job.state] ?? "Working …";
  const isTime = progress?.unit === "seconds";
  const [done, total] = known ? [progress.done, progress.total].map((one) => (isTime ? clock(one) : one.toLocaleString())) : [];
  const counted = known ? ` ${done} of ${total}${isTime ? "" : ` ${progress.unit}`}` : "";
  const bar = make("progress", known ? { max: progress.total, value: progress.done, "aria-label": "Progress" } : { "aria-label": "Progress" });
  const stop = make("button", { type: "button", class: "second small" }, "Cancel");
  stop.addEventListener("click", async () => {
    if (job?.id) await cancel(job.id);
    running.abort(new DOMException("Cancelled. Undelivered work is not charged.", "AbortError"));
  });
  page.status.replaceChildren(make("p", {}, words + counted), bar, stop);
}

function showFault(page, error) {
  const code = error instanceof Refused && error.code ? make("code", {}, error.code) : null;
  const isOurs = error instanceof Refused || error.name === "AbortError";
  const message = isOurs ? error.message : "The service can't be reached. Try again.";
  const named = error.details?.filter((fault) => !markFault(page.form, fault)) ?? [];
  page.status.replaceChildren(
    make("div", { class: "fault", role: "alert" },
      make("p", {}, message, " ", code),
      named.length ? make("ul", {}, named.map((fault) => make("li", {}, make("code", {}, fault.field), " ", fault.message))) : null,
      error.requestId ? make("p", { class: "faint" }, `Request ${error.requestId}`) : null,
    ),
  );
}

/** Mark the field that a fault names; false when the form has none of that name. */
function markFault(form, fault) {
  const name = String(fault.field ?? "").split(".")[0];
  const control = [...form.elements].find((element) => element.name === name && !element.disabled);
  if (!control) return false;
  const text = make("p", { class: "field-fault", id: `fault-${name}` }, fault.message);
  control.setAttribute("aria-invalid", "true");
  control.setAttribute("aria-errormessage", text.id);
  control.closest(".field")?.append(text);
  control.focus();
  return true;
}

function clearFaults(form) {
  for (const text of form.querySelectorAll(".field-fault")) text.remove();
  for (const control of form.querySelectorAll("[aria-invalid]")) {
    control.removeAttribute("aria-invalid");
    control.removeAttribute("aria-errormessage");
  }
}

function startLines(page) {
  const tabs = [...page.lines.querySelectorAll('[role="tab"]')];
  page.lines.querySelector("[data-copy-lines]").append(copyButton(() => codeOf(page).textContent));
  const choose = (tab, { focus = false } = {}) => {
    for (const one of tabs) {
      one.setAttribute("aria-selected", String(one === tab));
      one.tabIndex = one === tab ? 0 : -1;
    }
    page.lines.querySelector('[role="tabpanel"]').setAttribute("aria-labelledby", tab.id);
    remember(tab.dataset.language);
    if (focus) tab.focus();
    showLines(page);
  };
  tabs.forEach((tab, place) => {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) choose(tabs[(place + step + tabs.length) % tabs.length], { focus: true });
    });
  });
  choose(tabs.find((tab) => tab.dataset.language === remembered()) ?? tabs[0]);
}

function codeOf(page) {
  return page.lines.querySelector('[role="tabpanel"] code');
}

function showLines(page) {
  const tab = page.lines.querySelector('[aria-selected="true"]');
  const { request, kind } = page.request();
  const missing = kind.files.filter((field) => !request.files[field]);
  const files = { ...request.files, ...Object.fromEntries(missing.map((field) => [field, `${field}.mp3`])) };
  codeOf(page).textContent = LANGUAGES[tab.dataset.language]({ ...request, files }, page.lines.dataset.base);
}

function remember(language) {
  try {
    localStorage.setItem(REMEMBERED, language);
  } catch {
    // Some browsers keep nothing in private windows; then it is chosen anew.
  }
}

function remembered() {
  try {
    return localStorage.getItem(REMEMBERED);
  } catch {
    return null;
  }
}
