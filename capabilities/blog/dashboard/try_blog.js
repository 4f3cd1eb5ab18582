// Blog: a post becomes a card, with covers to choose from.

import { copyButton, credits, facts, languageName, make, notes, ownFile, saveLink } from "./try_dom.js";
import { start } from "./try_page.js";

/** Below this, a person had better look at the category. */
const UNSURE = 0.5;

async function show(answer, { request }) {
  const made = await answer.json();
  const known = facts([
    ["Language", languageName(made.language)],
    ["Cost", credits(made.credits_used)],
  ], [["Engines", made.engine], ["Category", made.category_confidence === null ? null : `${Math.round(made.category_confidence * 100)} % sure`]]);
  return [card(made, request.fields.title), notes([made.image_note, ...made.warnings]), known, copyButton(() => JSON.stringify(made, null, 2), "Copy as JSON")];
}

function card(made, title) {
  const cover = make("img", { class: "cover" });
  const about = make("p", { class: "faint" });
  const save = make("p", { class: "actions" });
  const choose = (image) => {
    cover.src = ownFile(image.url);
    cover.alt = image.description;
    cover.width = image.width;
    cover.height = image.height;
    about.textContent = `${image.style}, ${image.width} × ${image.height}. Alt text: ${image.description}`;
    save.replaceChildren(saveLink(ownFile(image.url), nameOf(image), "Download this cover"), copyButton(() => image.description, "Copy alt text"));
  };
  if (made.images.length) choose(made.images[0]);
  const isUnsure = made.category_confidence !== null && made.category_confidence < UNSURE;
  return [
    make("article", { class: "post", lang: made.language },
      made.images.length ? cover : null,
      make("div", {},
        make("p", {}, make("span", { class: "badge" }, made.category), isUnsure ? make("span", { class: "faint" }, " not sure") : null),
        make("h3", {}, title),
        make("p", {}, made.excerpt),
        make("ul", { class: "tags", "aria-label": "Tags" }, made.tags.map((tag) => make("li", {}, tag))),
      ),
    ),
    made.images.length > 1 ? covers(made.images, choose) : null,
    about,
    save,
  ].flat().filter(Boolean);
}

function covers(images, choose) {
  const radios = images.map((image, place) => {
    const radio = make("input", { type: "radio", name: "cover", "aria-label": `Cover ${place + 1}: ${image.description}` });
    radio.checked = place === 0;
    radio.addEventListener("change", () => choose(image));
    return make("label", { class: "choice" }, radio, make("img", { src: ownFile(image.url), alt: "", loading: "lazy" }));
  });
  return make("fieldset", { class: "covers" }, make("legend", {}, "Covers"), radios);
}

function nameOf(image) {
  return `cover.${image.content_type === "image/png" ? "png" : "jpg"}`;
}

start({ show });
