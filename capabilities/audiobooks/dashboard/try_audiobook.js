// Audiobooks: a plan's chapters are ticked, a voice is chosen by listening, and the book is begun.

import { languageName, make, notes, credits } from "./try_dom.js";
import { follow, send } from "./try_job.js";
import { start } from "./try_page.js";
import { uploadFile } from "./try_upload.js";
import { startVoices } from "./try_voices.js";

/** Bytes of a form's file. */
const MOST_IN_A_FORM = 25 * 2 ** 20;
const CHARACTERS_PER_CREDIT = 1_000;
const minutes = (seconds) => `${Math.max(1, Math.round(seconds / 60)).toLocaleString()} min`;

/** Upload a file that is too large for a form, and plan with its id. */
async function run(request, uploads, { onJob, signal }) {
  const file = uploads.manuscript;
  if (!file || file.size <= MOST_IN_A_FORM) return null;
  const id = await uploadFile(file, { onJob, signal });
  const { url, ...fields } = request.fields;
  const accepted = await send(request.path, { method: "POST", signal, headers: { "Content-Type": "application/json", Prefer: "respond-async" }, body: JSON.stringify({ ...fields, upload: id }) });
  const job = accepted.headers.get("X-Job-Id");
  await follow(job, { onJob, signal });
  return send(`/jobs/${job}/result`, { signal });
}

async function show(answer) {
  return shownPlan(await answer.json());
}

function shownPlan(plan) {
  const form = make("form", { "aria-label": "Audiobook" });
  const left = Object.entries(plan.left_out).map(([name, count]) => `${count.toLocaleString()} ${name.replace("_", " ")}`);
  const all = make("input", { type: "checkbox", checked: true, "aria-label": "All chapters" });
  const ticks = plan.chapters.map((chapter) => make("input", { type: "checkbox", name: "only", value: chapter.number, checked: true }));
  all.addEventListener("change", () => ticks.forEach((one) => { one.checked = all.checked; }));
  const rows = plan.chapters.map((chapter, place) =>
    make("li", {},
      make("label", { class: "tick" }, ticks[place], make("span", {}, make("strong", {}, chapter.title || `Chapter ${chapter.number}`), make("span", { class: "faint" }, ` ${chapter.characters.toLocaleString()} characters, ${minutes(chapter.seconds)}, ${languageName(chapter.language)}`))),
      make("p", { class: "about" }, chapter.opening, " …"),
      chapter.warning ? notes([chapter.warning]) : null,
    ));
  form.append(
    make("fieldset", {}, make("legend", {}, "Chapters"), make("label", { class: "tick" }, all, "All"), make("ol", { class: "chapters" }, rows)),
    left.length ? make("p", { class: "note" }, `Left out: ${left.join(", ")}.`) : "",
    document.querySelector("template[data-begin]").content.cloneNode(true),
  );
  form.elements.title.value = plan.title;
  form.elements.author.value = plan.author;
  const sum = () => {
    const chosen = plan.chapters.filter((_, place) => ticks[place].checked);
    const [characters, seconds] = ["characters", "seconds"].map((name) => chosen.reduce((total, one) => total + one[name], 0));
    form.querySelector(".send button").disabled = !chosen.length;
    form.querySelector("[data-sum]").textContent = chosen.length ? `${characters.toLocaleString()} characters, ${minutes(seconds)}: ${credits(Math.max(1, Math.ceil(characters / CHARACTERS_PER_CREDIT)))}` : "Choose a chapter.";
  };
  form.addEventListener("change", sum);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    begin(plan, form, ticks);
  });
  sum();
  startVoices(form);
  return form;
}

async function begin(plan, form, ticks) {
  const { title, author, voice_name: voice, language, speed, cast, dialogue } = Object.fromEntries(new FormData(form));
  const fields = { plan: plan.plan, title, author, speed: Number(speed), dialogue: Boolean(dialogue) };
  const speakers = cast.split("\n").filter((line) => line.trim()).map((line) => line.split("=").map((part) => part.trim()));
  if (speakers.length) fields.cast = Object.fromEntries(speakers.map(([speaker, name = ""]) => [speaker, name]));
  if (!ticks.every((one) => one.checked)) fields.only = ticks.filter((one) => one.checked).map((one) => Number(one.value));
  if (voice) fields.voice_name = voice;
  else if (language !== "auto") fields.language = language;
  const button = form.querySelector(".send button");
  button.disabled = true;
  try {
    const created = await (await send("/audiobooks", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(fields) })).json();
    location.assign(`/dashboard/audiobooks/${created.job_id}`);
  } catch (error) {
    form.querySelector(".fault")?.remove();
    form.append(make("div", { class: "fault", role: "alert" }, error.message));
    button.disabled = false;
  }
}

/** List the account's books; a job's own page leads here, and on to its book or plan. */
async function startBooks(page) {
  const asked = new URLSearchParams(location.search).get("plan");
  if (asked) {
    const job = await (await send(`/jobs/${asked}`)).json();
    if (job.kind === "audiobook") return location.replace(`/dashboard/audiobooks/${asked}`);
    page.result.replaceChildren(shownPlan(await (await send(`/jobs/${asked}/result`)).json()));
  }
  const jobs = await (await send("/jobs?kind=audiobook&limit=20")).json();
  const place = document.querySelector("[data-books]");
  place.append(make("ul", {}, jobs.map((job) => make("li", {}, make("a", { href: `/dashboard/audiobooks/${job.id}` }, job.name || "Audiobook"), ` ${job.state}, ${new Date(job.created_at).toLocaleDateString()}`))));
  place.hidden = !jobs.length;
}

const page = start({ show, run });
if (page) startBooks(page).catch(() => null);
