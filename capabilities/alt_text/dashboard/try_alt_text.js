// Alt text: a picture, and beside it what a screen reader would say.

import { startBulk } from "./bulk.js";
import { shrink } from "./bulk_pictures.js";
import { copyButton, credits, facts, languageName, make, notes } from "./try_dom.js";
import { installButton } from "./try_install.js";
import { takePasted } from "./try_files.js";
import { carryOut } from "./try_job.js";
import { start } from "./try_page.js";

/** The lengths in the order in which they are shown, with what they are for. */
const LENGTHS = { short: "Short", seo: "For search engines", long: "Long" };
const ALL = "all";
const LONGEST_NAME = 200;

/** All lengths at once by /batch, for the price of one; else by the route of one picture. */
function build(request, kind, uploads) {
  const { image_url: address, mode, ...more } = request.fields;
  const isAll = mode === ALL;
  if (uploads.image || !address) {
    const one = { ...request, fields: mode ? { ...more, mode } : more, files: uploads.image ? request.files : { image: "photo.jpg" } };
    const client = { then: ["print(pressroom.result(pressroom.wait(answer.id).id))"] };
    return isAll ? { ...one, path: "/batch", client } : one;
  }
  if (!isAll) return { ...request, client: { ...request.client, first: "image_url" } };
  const images = [{ image_url: address, mode, ...more }];
  return { ...request, path: "/batch", fields: { images }, client: { ...request.client, method: "describe_batch", first: "images" } };
}

async function run(request, uploads, context) {
  const answer = await (await carryOut(request, uploads, context)).json();
  return answer.results ? textsOf(answer.results[0]) : [[request.fields.mode ?? "short", answer]];
}

/** Return the texts of a result of /batch, each with its length. */
function textsOf(result) {
  if (result.error) throw Object.assign(new Error(result.message), { name: "AbortError" });
  return Object.keys(LENGTHS).map((mode, place) => [
    mode,
    { ...result, alt_text: result[`${mode}_alt_text`], credits_used: place ? null : result.credits_used },
  ]);
}

function show(texts, { uploads, request }) {
  const first = texts[0][1];
  const known = facts([
    ["Language", languageName(first.language)],
    ["Cost", credits(texts.reduce((sum, [, one]) => sum + (one.credits_used ?? 0), 0))],
  ], [["Engine", first.engine], ["Confidence", first.confidence === null ? null : `${Math.round(first.confidence * 100)} %`]]);
  const name = (uploads.image?.name ?? request.fields.image_url ?? "picture").slice(0, LONGEST_NAME);
  return make("div", { class: "described" },
    preview(uploads.image, first.alt_text),
    make("div", {}, texts.map(([mode, one]) => oneText(mode, one, name)), notes([first.advice]), first.draft ? installButton("captioning") : null, known),
  );
}

/** Return the picture that was sent, which only this browser has. */
function preview(file, text) {
  if (!file) return null;
  const picture = make("img", { alt: text });
  picture.src = URL.createObjectURL(file);
  picture.addEventListener("error", () => picture.replaceWith(make("p", { class: "faint" }, "This browser can't show this picture.")));
  return make("figure", {}, picture, make("figcaption", { class: "faint" }, file.name));
}

function oneText(mode, one, name) {
  const isOrnament = one.decorative === true;
  const shown = isOrnament ? "Decorative picture: the alt text is empty." : one.alt_text;
  return make("section", { class: "text" },
    make("h3", {}, LENGTHS[mode] ?? mode, one.draft ? make("span", { class: "badge" }, "draft, free") : null),
    make("blockquote", { class: isOrnament ? "faint" : null }, shown),
    make("p", { class: "actions" },
      make("span", { class: "faint" }, `${[...one.alt_text].length} characters`),
      copyButton(() => one.alt_text, "Copy the text"),
      copyButton(() => `<img src="${attribute(name)}" alt="${attribute(one.alt_text)}">`, "Copy as HTML"),
    ),
  );
}

function attribute(text) {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Many pictures, or addresses of a list, by /batch: a hundred are one job. */
export const bulk = {
  kinds: ["alt_text", "alt_text_batch"],
  noun: ["picture", "pictures"],
  verb: "Describe",
  unit: "images",
  file: "image",
  most: 100,
  atOnce: 2,
  cost: 1,
  file_name: "alt-texts",
  family: "captioning",
  takes: (file) => (file.type && !file.type.startsWith("image/") ? "This is not a picture." : null),
  async prepare(file, row) {
    const { thumbnail, smaller } = await shrink(file);
    if (thumbnail) row.thumbnail = URL.createObjectURL(thumbnail);
    row.smaller = smaller;
  },
  settings({ image_url: _, mode: __, ...more }) {
    return more;
  },
  request(rows, { image_url: _, mode, ...more }) {
    const wanted = { ...more, ...(mode ? { mode } : {}) };
    if (!rows[0].file) {
      const images = rows.map((row) => ({ ...wanted, ...row.fields, name: row.name }));
      return { path: "/batch", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ images }) };
    }
    const body = new FormData();
    for (const [field, value] of Object.entries(wanted)) body.set(field, String(value));
    for (const row of rows) body.append("image", row.smaller ?? row.file, row.name);
    return { path: "/batch", body };
  },
  texts(result) {
    const one = result.results ? result.results[0] : result;
    const known = Object.keys(LENGTHS).filter((mode) => typeof one[`${mode}_alt_text`] === "string");
    const texts = Object.fromEntries(known.map((mode) => [`${mode}_alt_text`, one[`${mode}_alt_text`]]));
    return { texts: known.length ? texts : { alt_text: one.alt_text }, draft: one.draft, advice: one.advice };
  },
  columns(rows) {
    const modes = Object.keys(LENGTHS).map((mode) => ({ name: `${mode}_alt_text`, label: LENGTHS[mode], rows: mode === "long" ? 4 : 2 }));
    const used = [...modes, { name: "alt_text", label: "Alt text" }].filter(({ name }) => rows.some((row) => row.texts[name] !== undefined));
    return used;
  },
  files: async (rows) => rows.map((row) => [`${row.name.replace(/\.[^.]*$/, "").slice(-80)}.txt`, Object.values(row.texts).join("\n\n")]),
};

const page = start({ build, run, show, many: (page) => startBulk(page, bulk) });
if (page) takePasted(page.form, page.form.elements.image);
