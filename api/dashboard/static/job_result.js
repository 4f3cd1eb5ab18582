// Job result: a job's result on its own page, as the page that made it shows it.

import { showJobs } from "./bulk.js";
import { make } from "./try_dom.js";
import { send } from "./try_job.js";

const place = document.querySelector("[data-job-result]");
const isOpen = () => Boolean(document.querySelector("#job[data-refresh]"));

async function show() {
  const { bulk, showJob } = await import(place.dataset.script);
  const job = await (await send(`/jobs/${place.dataset.jobResult}`)).json();
  const shown = make("div", { "data-result": true });
  if (bulk?.kinds.includes(job.kind)) {
    place.append(shown);
    document.querySelector("#result")?.closest("section").remove();
    await showJobs(bulk, [job], shown);
  } else if (showJob && !isOpen() && ["succeeded", "partial"].includes(job.state)) {
    const rows = async () => (await send(`/dashboard/jobs/${job.id}/rows`)).json(); // of thousands, they take a second
    shown.append(...[await showJob({ job, rows, read: () => send(`/jobs/${job.id}/result`) })].flat(Infinity).filter(Boolean));
    document.querySelector("#result")?.closest("section").remove();
    place.append(shown);
  } else return;
  place.hidden = false;
}

// If this fails, the server's rendering stays.
const begin = () => show().catch(() => null);
if (isOpen()) {
  begin();
  document.addEventListener("replaced", () => isOpen() || place.childElementCount > 1 || begin());
} else begin();
