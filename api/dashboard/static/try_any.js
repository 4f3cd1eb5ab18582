// Any: a kind that has no page of its own: its answer is shown as what it is.

import { copyButton, credits, facts, make, saveLink } from "./try_dom.js";
import { player } from "./try_player.js";
import { start } from "./try_page.js";

async function show(answer) {
  const type = answer.headers.get("Content-Type") ?? "";
  const known = facts([["Cost", credits(answer.headers.get("X-Credits-Used"))]], [["Engine", answer.headers.get("X-Engine")]]);
  if (type.startsWith("application/json")) {
    const text = JSON.stringify(await answer.json(), null, 2);
    return [make("pre", { class: "shown", tabindex: "0" }, text), copyButton(() => text), known];
  }
  if (type.startsWith("text/")) return [make("pre", { class: "shown", tabindex: "0" }, await answer.text()), known];
  const bytes = await answer.blob();
  const shown = type.startsWith("audio/") ? player(bytes, "Result") : null;
  return [shown, make("p", { class: "actions" }, saveLink(bytes, "result", "Download")), known];
}

start({ show });
