// Index check: a list of addresses that fills in while search engines are asked.

import { icon, make, notes, webAddress } from "./try_dom.js";
import { say, stackTables } from "./live.js";
import { bodyOf, cancel, follow, send } from "./try_job.js";
import { start } from "./try_page.js";

/** Rows of a page; a job may have 10,000. */
const ROWS = 100;
/** While URLs are asked about, which no event tells, the rows are read so often. */
const LOOK_SECONDS = 3;
const VERDICTS = { indexed: ["good", "listed"], not_indexed: ["bad", "not listed"], rate_limited: ["busy", "blocked"], error: ["bad", "failed"] };

/** The request has either addresses or a sitemap. */
function build(request) {
  const { urls, sitemap_url: sitemap, ...more } = request.fields;
  const given = sitemap ? { sitemap_url: sitemap } : { urls: urls ?? [] };
  return {
    ...request,
    fields: { type: "check", ...given, ...more },
    then: [["Read the results of its job_id at any time:", "/indexing/jobs/JOB_ID/urls"]],
    client: { ...request.client, first: sitemap ? undefined : "urls", drop: ["type"] },
  };
}

async function run(request, uploads, { signal, page }) {
  const { headers, body } = bodyOf(request);
  const created = await (await send(request.path, { method: "POST", headers, body, signal })).json();
  history.replaceState(null, "", `?job=${created.job_id}`);
  return watch(created.job_id, { signal, page });
}

/** Show a job's rows until it has ended. */
async function watch(jobId, { signal, page }) {
  const view = newView(jobId);
  page.result.replaceChildren(view.summary, tableOf(view.table), view.more);
  const stop = make("button", { type: "button", class: "second small" }, "Cancel");
  stop.addEventListener("click", () => cancel(jobId));
  page.status.replaceChildren(make("p", {}, "Checking …"), stop);
  const look = () => refresh(view, signal).catch(() => null);
  await refresh(view, signal);
  const timer = setInterval(look, LOOK_SECONDS * 1_000);
  try {
    await follow(jobId, { onJob: look, signal });
  } finally {
    clearInterval(timer);
  }
  await refresh(view, signal);
  return view;
}

const newView = (jobId) => ({ jobId, offset: 0, table: make("tbody"), summary: make("div", { class: "summary" }), more: make("p", { class: "actions" }) });

async function refresh(view, signal) {
  const [job, answer] = await Promise.all([
    send(`/indexing/jobs/${view.jobId}`, { signal }).then((found) => found.json()),
    send(`/indexing/jobs/${view.jobId}/urls?limit=${ROWS}&offset=${view.offset}`, { signal }),
  ]);
  const records = await answer.json();
  view.table.replaceChildren(...records.map(rowOf));
  requestAnimationFrame(() => stackTables(view.table.closest(".scrolls")?.parentElement)); // once it is on the page
  view.summary.replaceChildren(...summaryOf(job));
  view.more.replaceChildren(...actionsOf(view, job, Number(answer.headers.get("X-Total-Count"))));
}

function summaryOf(job) {
  const missing = job.processed_urls - job.indexed_count - job.failed_count;
  const waiting = job.waiting_for;
  return [
    make("progress", { max: job.total_urls, value: job.processed_urls, "aria-label": "Answered" }),
    make("p", {}, `${job.processed_urls} of ${job.total_urls} answered: ${job.indexed_count} listed, ${Math.max(missing, 0)} not listed, ${job.failed_count} without an answer.`),
    ...notes([
      job.error_message,
      ...(waiting?.providers ?? []).map((one) => `${one.provider} is asked again at ${new Date(one.until).toLocaleTimeString()}: ${one.message}.`),
      job.status === "running" && job.eta && !waiting ? `Ready at about ${new Date(job.eta).toLocaleTimeString()}.` : null,
    ]),
  ];
}

function tableOf(body) {
  const heading = make("tr", {}, ["Address", "Result", "Why"].map((name) => make("th", { scope: "col" }, name)));
  return make("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": "Addresses" },
    make("table", {}, make("caption", { class: "hidden" }, "Addresses"), make("thead", {}, heading), body));
}

function rowOf(record) {
  const found = record.raw_result ?? {};
  const [tone, word] = VERDICTS[found.reason] ?? ["plain", record.status === "processing" ? "asking …" : "waiting"];
  return make("tr", {},
    make("td", { class: "address" }, link(record.url)),
    make("td", {}, make("span", { class: `badge ${tone}` }, word)),
    make("td", {}, why(record, found)),
  );
}

function why(record, found) {
  const cause = found.diagnosis?.sentence ?? found.message ?? record.last_error;
  const proof = found.proofUrl ? webAddress(found.proofUrl) : null;
  return [
    cause ? `${cause} ` : null,
    proof ? make("a", { href: proof, rel: "noreferrer noopener", target: "_blank", title: `Asked: ${found.provider}` }, "Proof") : null,
  ].filter(Boolean);
}

function link(url) {
  const address = webAddress(url);
  return address ? make("a", { href: address, rel: "noreferrer noopener", target: "_blank" }, url) : url;
}

function actionsOf(view, job, total) {
  const exports = ["csv", "xlsx"].map((form) => make("a", { class: "button second small", href: `/indexing/jobs/${view.jobId}/export?format=${form}`, download: "" }, icon("download"), form.toUpperCase()));
  const turns = [["Before", -ROWS], ["After", ROWS]]
    .filter(([, step]) => view.offset + step >= 0 && view.offset + step < total)
    .map(([label, step]) => turn(view, label, step));
  const again = job.failed_count && job.status !== "running" ? [retry(view)] : [];
  return [...exports, ...turns, ...again];
}

function turn(view, label, step) {
  const button = make("button", { type: "button", class: "second small" }, label);
  button.addEventListener("click", () => {
    view.offset += step;
    refresh(view).catch((error) => say(error.message, "bad"));
  });
  return button;
}

/** Return a button that asks again about the URLs without an answer, as a new job. */
function retry(view) {
  const button = make("button", { type: "button", class: "second small" }, "Retry failed addresses");
  const ask = async () => {
    const created = await (await send(`/indexing/jobs/${view.jobId}/retry`, { method: "POST" })).json();
    if (!page) return location.assign(`/dashboard/jobs/${created.job_id}`);
    history.replaceState(null, "", `?job=${created.job_id}`);
    resume(created.job_id);
  };
  button.addEventListener("click", () => {
    button.disabled = true; // once alone
    ask().catch((error) => say(error.message, "bad")).finally(() => { button.disabled = false; });
  });
  return button;
}

async function resume(jobId) {
  const signal = new AbortController().signal;
  try {
    await watch(jobId, { signal, page });
    page.status.replaceChildren();
  } catch (error) {
    page.status.replaceChildren(make("p", { class: "fault", role: "alert" }, error.message));
  }
}

/** Show a job's URLs on its own page. */
export async function showJob({ job }) {
  const view = newView(job.id);
  await refresh(view);
  return [view.summary, tableOf(view.table), view.more];
}

const page = start({ build, run, show: (view) => [view.summary, tableOf(view.table), view.more] });
const known = new URLSearchParams(location.search).get("job");
if (page && /^[0-9a-f-]{36}$/.test(known ?? "")) resume(known);
