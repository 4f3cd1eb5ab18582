// The page of all routes: opens and searches them, shows the forms, sends what they hold, and shows what comes back.

/** What is shown of an answer that does not end soon, or that is long, in characters. */
const LONGEST_SHOWN = 100_000;

const key = document.getElementById("key");
let token = "";

for (const hidden of document.querySelectorAll("[data-key], .trial")) hidden.hidden = false;
const base = document.querySelector("[data-base]");
base.textContent = base.textContent.replace("http://127.0.0.1:8000", location.origin);
for (const form of document.querySelectorAll("form[data-path]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form, form.parentElement.querySelector("[data-answer]"));
  });
}

/** Open the route that the address names. */
function open() {
  const found = document.getElementById(location.hash.slice(1));
  if (found?.matches(".route")) found.open = true;
  found?.scrollIntoView();
}
addEventListener("hashchange", open);
open();

/** Show the routes alone that have all words of the search, in their texts or fields. */
document.getElementById("search").addEventListener("input", ({ target }) => {
  const words = target.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const route of document.querySelectorAll(".route")) {
    const text = route.textContent.toLowerCase();
    route.hidden = !words.every((word) => text.includes(word));
    document.querySelector(`#docs > nav a[href="#${route.id}"]`).parentElement.hidden = route.hidden;
  }
});

async function send(form, place) {
  const button = form.querySelector("button");
  button.disabled = true;
  place.replaceChildren(element("p", "Waiting for the answer…"));
  const began = performance.now();
  try {
    const answer = await fetch(address(form), { method: form.dataset.method, ...(await sent(form)) });
    const took = ((performance.now() - began) / 1000).toFixed(2);
    const head = `${answer.status} ${answer.statusText} · ${took} s`;
    const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    place.replaceChildren(element("p", head), fold("Headers", headers), await shown(answer));
  } catch (error) {
    place.replaceChildren(element("p", `No answer: ${error.message}`));
  } finally {
    button.disabled = false;
  }
}

function address(form) {
  const path = form.dataset.path.replace(/{(\w+)}/g, (_, name) => encodeURIComponent(form.elements[name].value));
  const query = new URLSearchParams(values(form, "query"));
  return query.size ? `${path}?${query}` : path;
}

async function sent(form) {
  const headers = new Headers(values(form, "header"));
  if (key.value) headers.set("X-API-Key", key.value.trim());
  else if (form.dataset.method !== "GET") headers.set("X-CSRF-Token", await sessionToken());
  const text = form.querySelector("[data-in=body]")?.value.trim();
  if (text) {
    headers.set("Content-Type", form.dataset.media);
    return { headers, body: text };
  }
  const fields = [...form.querySelectorAll("[data-in=form]")];
  if (!fields.length) return { headers };
  const body = new FormData();
  for (const field of fields) {
    if (field.type === "file") for (const file of field.files) body.append(field.name, file);
    else if (field.value) body.append(field.name, field.value);
  }
  return { headers, body };
}

function values(form, place) {
  const found = [...form.querySelectorAll(`[data-in=${place}]`)];
  return found.filter((field) => field.value).map((field) => [field.name, field.value]);
}

/** Return the token of who is signed in, which a page of the dashboard has; this page is the same for everybody. */
async function sessionToken() {
  if (!token) {
    const answer = await fetch("/dashboard/account");
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    token = page.querySelector('meta[name="csrf-token"]')?.content ?? "";
  }
  return token;
}

async function shown(answer) {
  const type = answer.headers.get("Content-Type") ?? "";
  if (type.startsWith("text/event-stream")) return events(answer);
  const medium = { audio: "audio", image: "img", video: "video" }[type.split("/")[0]];
  if (medium) {
    const found = document.createElement(medium);
    found.src = URL.createObjectURL(await answer.blob());
    if (medium === "img") found.alt = "The answer";
    else found.controls = true;
    return found;
  }
  if (type.startsWith("application/json")) return element("pre", pretty(await answer.text()));
  if (type.startsWith("text/") || type.startsWith("application/x-subrip")) return element("pre", await answer.text());
  const link = element("a", "Download the answer");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = "";
  return link;
}

function events(answer) {
  const place = element("pre", "");
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  const read = async () => {
    const { value, done } = await reader.read();
    if (done) return;
    place.textContent = (place.textContent + value).slice(-LONGEST_SHOWN);
    read();
  };
  read();
  return place;
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2).slice(0, LONGEST_SHOWN);
  } catch {
    return text.slice(0, LONGEST_SHOWN);
  }
}

function fold(title, text) {
  const found = document.createElement("details");
  found.append(element("summary", title), element("pre", text));
  return found;
}

function element(name, text) {
  const found = document.createElement(name);
  found.textContent = text;
  if (name === "pre") found.tabIndex = 0;
  return found;
}
