// Audiobook: a chapter is heard passage by passage, also while others are spoken; a changed one is spoken again.

import { say } from "./live.js";
import { clock, icon, make, ownFile } from "./try_dom.js";
import { cancel, follow, send } from "./try_job.js";

const LOOK_AGAIN_MS = 2_000;
const panel = document.querySelector("#chapter");
const book = () => document.querySelector("[data-book]");
const path = () => `/audiobooks/${book().dataset.book}`;
let shown = null;

/** Show the passages of a chapter, and play them. */
async function openChapter(number, { plays = true } = {}) {
  const chapter = await (await send(`${path()}/chapters/${number}`)).json();
  const title = chapter.title || `Chapter ${chapter.chapter}`;
  const audio = make("audio", { controls: true, preload: "none", "aria-label": title });
  shown?.audio.pause();
  shown = { number, audio, rows: chapter.passages.map((passage) => row(passage)), at: -1 };
  audio.addEventListener("ended", () => play(shown.at + 1));
  panel.replaceChildren(make("h2", { id: "chapter-title", tabindex: "-1" }, title), audio, make("ol", { class: "passages" }, shown.rows.map((one) => one.element)));
  panel.hidden = false;
  history.replaceState(null, "", `#chapter-${number}`);
  panel.scrollIntoView({ block: "nearest" });
  if (plays) play(0);
  watch(shown);
}

function row(passage) {
  const one = { passage };
  const text = make("p", { class: "what" }, passage.text);
  const hear = make("button", { type: "button", class: "only", "aria-label": `Play passage ${passage.number}`, click: () => play(shown.rows.indexOf(one)) }, icon("play"));
  const edit = make("button", { type: "button", class: "second small", "aria-label": `Edit passage ${passage.number}`, click: () => change(one, text, edit) }, "Edit");
  hear.disabled = !passage.audio_url;
  one.hear = hear;
  one.element = make("li", {}, make("div", { class: "row" }, hear, edit, make("span", { class: "faint" }, passage.seconds ? clock(passage.seconds) : passage.state)), text);
  return one;
}

/** Play a passage; one that is not spoken yet is waited for. */
function play(at) {
  const one = shown.rows[at];
  if (!one) return;
  shown.rows[shown.at]?.element.removeAttribute("aria-current");
  shown.at = at;
  one.element.setAttribute("aria-current", "true");
  shown.waits = !one.passage.audio_url;
  if (shown.waits) return;
  shown.audio.src = ownFile(one.passage.audio_url);
  shown.audio.play().catch(() => null); // a browser that plays nothing by itself shows its own button
}

/** Look for passages that were spoken since, until all are. */
async function watch(own) {
  while (own === shown && own.rows.some((one) => !one.passage.audio_url)) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    const isOpen = book().dataset.refresh;
    const answer = await send(`${path()}/chapters/${own.number}`).catch(() => null);
    if (!answer) continue;
    const { passages } = await answer.json();
    own.rows.forEach((one, place) => {
      one.passage.audio_url ??= passages[place].audio_url;
      one.hear.disabled = !one.passage.audio_url;
    });
    if (own === shown && own.waits) play(own.at);
    if (!isOpen) return;
  }
}

function change(one, text, edit) {
  const { number } = one.passage;
  const area = make("textarea", { rows: 8, maxlength: 4000, "aria-label": `Text of passage ${number}` });
  area.value = one.passage.text;
  const save = make("button", { type: "button", class: "small", click: () => revise([{ number, text: area.value }], save) }, "Speak it again");
  const back = make("button", { type: "button", class: "second small", click: () => { form.replaceWith(text); edit.hidden = false; edit.focus(); } }, "Leave it");
  const form = make("div", {}, area, make("p", { class: "actions" }, save, back, make("span", { class: "faint" }, "Only this passage is charged.")));
  edit.hidden = true;
  text.replaceWith(form);
  area.focus();
}

/** Make a new audiobook with changed passages, and with those that were not spoken. */
async function revise(passages, button) {
  button.disabled = true;
  try {
    if (book().dataset.refresh) await cancel(book().dataset.book);
    const created = await (await send(path(), { method: "PATCH", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ passages }) })).json();
    location.assign(`/dashboard/audiobooks/${created.job_id}${location.hash}`);
  } catch (error) {
    button.disabled = false;
    say(error.message, "bad");
  }
}

async function makeFile(form) {
  const button = form.querySelector("button");
  const status = form.parentElement.querySelector("[data-status]");
  const body = new FormData(form);
  if (!form.elements.cover.files.length) body.delete("cover");
  button.disabled = true;
  status.replaceChildren(make("p", {}, "Joining the chapters …"), make("progress", { "aria-label": "Progress" }));
  try {
    const accepted = await send(`${path()}/files`, { method: "POST", headers: { Prefer: "respond-async" }, body });
    const job = accepted.headers.get("X-Job-Id");
    const ended = await follow(job, { onJob: ({ progress }) => Object.assign(status.querySelector("progress"), { max: progress.total || 1, value: progress.done }) });
    if (ended.error) throw new Error(ended.error.message);
    const name = document.querySelector("h1").textContent.replace(/[\\/:*?"<>|\s]+/g, " ").trim();
    const ending = { m4b: "m4b", mp3: "zip", epub: "epub", vtt: "vtt" }[body.get("format")];
    status.replaceChildren(make("a", { class: "button", href: `/jobs/${job}/result`, download: `${name}.${ending}` }, icon("download"), `Download ${name}.${ending}`));
  } catch (error) {
    status.replaceChildren(make("p", { class: "flash bad", role: "alert" }, error.message));
  } finally {
    button.disabled = false;
  }
}

document.addEventListener("click", (event) => {
  const listen = event.target.closest("[data-listen]");
  const act = event.target.closest("[data-act]");
  if (listen) openChapter(listen.dataset.listen).then(() => panel.querySelector("h2").focus(), (error) => say(error.message, "bad"));
  if (act?.dataset.act === "pause") cancel(book().dataset.book).then(() => location.reload());
  if (act?.dataset.act === "go-on") revise([], act);
});
document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-files]")) return;
  event.preventDefault();
  makeFile(event.target);
});
const asked = location.hash.match(/^#chapter-(\d+)$/);
if (asked) openChapter(asked[1], { plays: false }).catch(() => null);
