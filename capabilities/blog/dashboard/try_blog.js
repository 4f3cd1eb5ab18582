// Blog: a post becomes a card, with covers to choose from.

import { startBulk } from "./bulk.js";
import { copyButton, credits, facts, languageName, make, notes, ownFile, saveLink } from "./try_dom.js";
import { start } from "./try_page.js";

/** Below this, a person had better look at the category. */
const UNSURE = 0.5;

async function show(answer, { request }) {
  return shown(await answer.json(), request.fields.title);
}

function shown(made, title) {
  const known = facts([
    ["Language", languageName(made.language)],
    ["Cost", credits(made.credits_used)],
  ], [["Engines", made.engine], ["Category", made.category_confidence === null ? null : `${Math.round(made.category_confidence * 100)} % sure`]]);
  return [card(made, title), notes([made.image_note, ...made.warnings]), known, copyButton(() => JSON.stringify(made, null, 2), "Copy as JSON")];
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

/** A post of a file: its first heading, or first line, is the title. */
async function readPost(file) {
  const text = await file.text();
  const isPage = /\.html?$/i.test(file.name);
  const page = isPage ? new DOMParser().parseFromString(text, "text/html") : null;
  const heading = isPage ? (page.querySelector("h1") ?? page.querySelector("title"))?.textContent : (/^title:\s*"?(.+?)"?\s*$/m.exec(text.slice(0, 2_000)) ?? /^#\s+(.+)$/m.exec(text) ?? /^\s*(\S.*)$/m.exec(text))?.[1];
  return { title: (heading ?? file.name).trim().slice(0, 1_000), content: text };
}

/** Many posts, each a job: files, or the rows of a list. */
export const bulk = {
  kinds: [],
  noun: ["post", "posts"],
  verb: "Create cards for",
  file: "posts",
  most: 1,
  atOnce: 3,
  cost: 3,
  file_name: "posts",
  takes: (file) => (/\.(md|markdown|txt|html?)$/i.test(file.name) ? null : "This is not a text, Markdown or HTML file."),
  async prepare(file, row) {
    row.fields = await readPost(file);
    row.name = row.fields.title;
  },
  async alone(file, page) {
    const post = await readPost(file);
    page.form.elements.title.value = post.title;
    page.form.elements.content.value = post.content;
    page.update();
  },
  settings: ({ title: _, content: __, ...more }) => more,
  request(rows, { title: _, content: __, ...more }) {
    return { path: "/blog/generate", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ...more, ...rows[0].fields }) };
  },
  texts(made, row) {
    row.covers = made.images;
    const cover = made.images[0];
    return { texts: { excerpt: made.excerpt, category: made.category, tags: made.tags.join(", "), cover_alt_text: cover?.description ?? "" } };
  },
  columns: () => [{ name: "excerpt", label: "Excerpt", rows: 3 }, { name: "category", label: "Category", rows: 1 }, { name: "tags", label: "Tags" }, { name: "cover_alt_text", label: "Alt text of the cover" }],
  async files(rows) {
    const files = [];
    for (const row of rows) {
      for (const [place, image] of (row.covers ?? []).entries()) files.push([`${row.name.slice(0, 60)} ${place + 1}.${nameOf(image).split(".")[1]}`, await (await fetch(ownFile(image.url))).blob()]);
    }
    return files;
  },
};

/** Show a job's card on its own page. */
export async function showJob({ job, read, rows }) {
  const [item] = await rows();
  return shown(await (await read()).json(), item?.name ?? job.name ?? "");
}

start({ show, many: (page) => startBulk(page, bulk) });
