// Job: a request is submitted, followed by its events, and its result is brought.

import { api } from "./live.js";

const POLL_SECONDS = 2;
/** Failures in a row after which nobody waits any longer: some minutes. */
const MOST_FAILURES = 60;

/** What the service refused, or a job that ended without a result. */
export class Refused extends Error {
  constructor(document, status, retryAfter) {
    super(document.message ?? document.error ?? `The service answered ${status}.`);
    this.code = document.code;
    this.details = Array.isArray(document.details) ? document.details : [];
    this.requestId = document.request_id;
    this.status = status;
    this.retryAfter = Number(retryAfter) || 0;
  }
}

/** Return whether an error stays the same however often it is tried: a lost connection (status 0) or a restart passes. */
export const isFinal = ({ status }, failures = 0) => failures > MOST_FAILURES || !(status === 0 || status === 429 || status >= 500);

/** Send a request of the page's account, and return its answer. Throws Refused, with status 0 where there is none. */
export async function send(path, options = {}) {
  const answer = await api(path, { ...options, headers: { Accept: "application/json, */*", ...options.headers } }).catch((error) => {
    throw options.signal?.aborted ? error : new Refused({ message: "The service can't be reached. Try again." }, 0);
  });
  if (answer.ok) return answer;
  throw new Refused(await answer.json().catch(() => ({})), answer.status, answer.headers.get("Retry-After"));
}

/** Return the body and headers of a request; its files are File objects. */
export function bodyOf(request, uploads = {}) {
  if (!Object.keys(uploads).length) {
    return { headers: { "Content-Type": "application/json" }, body: JSON.stringify(request.fields) };
  }
  const form = new FormData();
  for (const [field, file] of Object.entries(uploads)) form.set(field, file, file.name);
  for (const [field, value] of Object.entries(request.fields)) {
    form.set(field, Array.isArray(value) ? value.join(", ") : String(value));
  }
  return { headers: {}, body: form };
}

/** Submit a request, tell of its job as it goes on, and return its result, a Response. Throws Refused. */
export async function carryOut(request, uploads, { onJob, signal, key } = {}) {
  const { headers, body } = bodyOf(request, uploads);
  if (key) headers["Idempotency-Key"] = key;
  const accepted = await send(request.path, { method: "POST", headers: { ...headers, Prefer: "respond-async" }, body, signal });
  if (accepted.status === 200) return accepted;
  const jobId = accepted.headers.get("X-Job-Id");
  await follow(jobId, { onJob, signal });
  return send(`/jobs/${jobId}/result`, { signal });
}

/** Tell of a job until it has ended, and return its last document. */
export function follow(jobId, { onJob = () => {}, signal } = {}) {
  return new Promise((resolve, reject) => {
    const events = new EventSource(`/jobs/${jobId}/events`);
    const end = (settle, value) => {
      events.close();
      settle(value);
    };
    signal?.addEventListener("abort", () => end(reject, signal.reason), { once: true });
    events.addEventListener("progress", (event) => onJob(JSON.parse(event.data)));
    events.addEventListener("ended", (event) => {
      const job = JSON.parse(event.data);
      onJob(job);
      end(resolve, job);
    });
    events.addEventListener("error", () => {
      // A stream that closes is connected to again by the browser itself; one that was refused is not.
      if (events.readyState !== EventSource.CLOSED || signal?.aborted) return;
      poll(jobId, { onJob, signal }).then(resolve, reject);
    });
  });
}

async function poll(jobId, { onJob, signal }) {
  for (let failures = 0; ; ) {
    const answer = await send(`/jobs/${jobId}`, { signal }).catch((error) => {
      if (signal?.aborted || isFinal(error, ++failures)) throw error;
    });
    if (answer) {
      failures = 0;
      const job = await answer.json();
      onJob(job);
      if (job.finished_at) return job;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_SECONDS * 1_000));
  }
}

/** Keep a reader's version of an item's texts with its job. */
export async function keepTexts(job, index, texts, accepted = false) {
  if (!job) return;
  const body = new URLSearchParams({ index, texts: JSON.stringify({ texts, accepted }) });
  await api(`/dashboard/jobs/${job}/rows`, { method: "POST", body }).catch(() => null);
}

/** End a job at once; an ended job stays as it is. */
export async function cancel(jobId) {
  await send(`/jobs/${jobId}/cancel`, { method: "POST" }).catch(() => null);
}
