// Install: a button beside a draft that has a model downloaded, for operators; others are not shown any.

import { make } from "./try_dom.js";
import { api, messageOf } from "./live.js";

const LOOK_AGAIN_MS = 3_000;
const megabytes = (bytes) => `${Math.round(bytes / 1e6).toLocaleString()} MB`;

/** Return a place in which the button appears, if there is a model for the family and the reader may install it. */
export function installButton(family) {
  const path = `/dashboard/operators/models/${family}`;
  const place = make("p", { class: "actions", role: "status" });
  const look = async () => {
    const answer = await fetch(path, { credentials: "same-origin", headers: { Accept: "application/json" } });
    return answer.ok && !answer.redirected ? (await answer.json()).install : undefined;
  };
  const watch = async () => {
    const found = await look();
    if (found === undefined) return;
    if (found === null) {
      place.textContent = "The model is installed. Describe the picture again.";
      return;
    }
    const share = make("progress", { max: found.bytes, value: found.done ?? 0, "aria-label": `Download of ${found.model}` });
    place.replaceChildren(share, `${megabytes(found.done ?? 0)} of ${megabytes(found.bytes)}`);
    setTimeout(watch, LOOK_AGAIN_MS);
  };
  const install = async () => {
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    const answer = await api(path, { method: "POST", headers, body: "" });
    if (answer.ok) await watch();
    else place.textContent = await messageOf(answer);
  };
  look().then((found) => {
    if (!found) return;
    if (found.done !== null) watch();
    else place.append(make("button", { type: "button", click: install }, `Install ${found.model} (${megabytes(found.bytes)})`));
  });
  return place;
}
