// Verify: what the marks in a file say.

import { facts, make } from "./try_dom.js";
import { start } from "./try_page.js";

const SAID = {
  signed: "This file is as it was made.",
  altered: "This file was changed after it was made.",
  tagged: "This file says that a machine made it. It is not signed.",
  foreign: "Another program signed this file.",
  unmarked: "This file has no mark, or its mark was removed.",
};
const ORIGINS = { synthetic: "Made by a model", composed: "Drawn or mixed by rules", extracted: "Read from the original" };

async function show(answer) {
  const found = await answer.json();
  const signer = found.signer && `${found.signer} (${found.is_trusted ? "this Pressroom" : "somebody else"})`;
  return [
    make("p", { class: found.status === "signed" && found.is_trusted ? "" : "note" }, SAID[found.status]),
    facts([
      ["Origin", ORIGINS[found.origin]],
      ["Engine", found.engine],
      ["Model", found.model],
      ["Made", found.made_at && new Date(found.made_at).toLocaleString()],
      ["Job", found.job],
      ["Signed by", signer],
    ]),
  ];
}

start({ show });
