// Export: rows as CSV, as an Excel workbook, texts as a Word document, and files in a zip; made here, in the browser.

/** A spreadsheet runs what begins with these. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
/** Numbers and dashes: run, they would be a number at most (pipeline/csv_cells.py). */
const HARMLESS = /^[+-][0-9 .,()/-]*%?$/;
const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const OFFICE = "http://schemas.openxmlformats.org";
const TYPES = { csv: "text/csv", xlsx: `application/vnd.openxmlformats-officedocument.spreadsheetml.sheet`, docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document", zip: "application/zip" };

/** Return rows of texts, the first of which are the headings, as CSV that Excel reads as UTF-8. */
export function csv(rows) {
  const cell = (text) => `"${(FORMULA.test(text) && !HARMLESS.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  return new Blob(["\ufeff", rows.map((row) => row.map((one) => cell(String(one ?? ""))).join(",")).join("\r\n"), "\r\n"], { type: TYPES.csv });
}

/** Return rows of texts as a workbook; every cell is a text, so that none is run. */
export async function xlsx(rows) {
  const cell = (text) => `<c t="inlineStr"><is><t xml:space="preserve">${escaped(text)}</t></is></c>`;
  const lines = rows.map((row) => `<row>${row.map(cell).join("")}</row>`).join("");
  const main = `${OFFICE}/spreadsheetml/2006/main`;
  return zip([
    ["[Content_Types].xml", types({ "/xl/workbook.xml": "spreadsheetml.sheet.main", "/xl/worksheets/sheet1.xml": "spreadsheetml.worksheet" })],
    ["_rels/.rels", relations("officeDocument", "xl/workbook.xml")],
    ["xl/workbook.xml", `${XML}<workbook xmlns="${main}" xmlns:r="${OFFICE}/officeDocument/2006/relationships"><sheets><sheet name="Pressroom" sheetId="1" r:id="rId1"/></sheets></workbook>`],
    ["xl/_rels/workbook.xml.rels", relations("worksheet", "worksheets/sheet1.xml")],
    ["xl/worksheets/sheet1.xml", `${XML}<worksheet xmlns="${main}"><sheetData>${lines}</sheetData></worksheet>`],
  ], TYPES.xlsx);
}

/** Return paragraphs as a Word document. */
export async function docx(paragraphs) {
  const body = paragraphs.map((text) => `<w:p><w:r><w:t xml:space="preserve">${escaped(text)}</w:t></w:r></w:p>`).join("");
  return zip([
    ["[Content_Types].xml", types({ "/word/document.xml": "wordprocessingml.document.main" })],
    ["_rels/.rels", relations("officeDocument", "word/document.xml")],
    ["word/document.xml", `${XML}<w:document xmlns:w="${OFFICE}/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`],
  ], TYPES.docx);
}

/** Return files, pairs of name and text or Blob, as a zip; names that are there twice get a number. */
export async function zip(files, type = TYPES.zip) {
  const parts = [];
  const directory = [];
  const taken = new Set();
  let offset = 0;
  for (const [wanted, content] of files) {
    const name = new TextEncoder().encode(type === TYPES.zip ? freeName(wanted, taken) : wanted);
    const bytes = new Uint8Array(await new Blob([content]).arrayBuffer());
    const head = header(name, bytes);
    parts.push(new Uint8Array([0x50, 0x4b, 3, 4]), head, name, bytes);
    directory.push(new Uint8Array([0x50, 0x4b, 1, 2, 20, 0]), head, new Uint8Array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), little(offset, 4), name);
    offset += 4 + head.length + name.length + bytes.length;
    await null; // other tasks have their turn between files
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const count = little(files.length, 2);
  const end = [new Uint8Array([0x50, 0x4b, 5, 6, 0, 0, 0, 0]), count, count, little(size, 4), little(offset, 4), new Uint8Array(2)];
  return new Blob([...parts, ...directory, ...end], { type });
}

/** Return what stands in a local header and in the directory alike: version, UTF-8 names, no compression, sizes. */
function header(name, bytes) {
  const flags = [20, 0, 0, 8, 0, 0, 0, 0, 0x21, 0];
  return new Uint8Array([...flags, ...little(crc32(bytes), 4), ...little(bytes.length, 4), ...little(bytes.length, 4), ...little(name.length, 2), 0, 0]);
}

const little = (number, size) => Uint8Array.from({ length: size }, (_, place) => (number / 2 ** (8 * place)) & 255);

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? (byte >>> 1) ^ 0xedb88320 : byte >>> 1;
  return byte;
});

function crc32(bytes) {
  let sum = ~0;
  for (const byte of bytes) sum = CRC[(sum ^ byte) & 255] ^ (sum >>> 8);
  return ~sum >>> 0;
}

function freeName(wanted, taken) {
  const [, stem, ending] = /^(.*?)(\.[^.]*)?$/s.exec(wanted.replace(/[\\/:*?"<>|\u0000-\u001f]/g, "_"));
  let name = `${stem}${ending ?? ""}`;
  for (let number = 2; taken.has(name); number++) name = `${stem} ${number}${ending ?? ""}`;
  taken.add(name);
  return name;
}

function escaped(text) {
  const legal = String(text ?? "").replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "");
  return legal.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function types(parts) {
  const named = Object.entries(parts).map(([part, type]) => `<Override PartName="${part}" ContentType="application/vnd.openxmlformats-officedocument.${type}+xml"/>`);
  return `${XML}<Types xmlns="${OFFICE}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${named.join("")}</Types>`;
}

function relations(type, target) {
  return `${XML}<Relationships xmlns="${OFFICE}/package/2006/relationships"><Relationship Id="rId1" Type="${OFFICE}/officeDocument/2006/relationships/${type}" Target="${target}"/></Relationships>`;
}
