// Lines: a request as curl, Python and JavaScript that do exactly the same. Pure: no page is needed.
//
// A request is {path, fields, files, saves, client}: `fields` are JSON values; `files` are the names of files by
// form field, and make it a form; `saves` is the name of the file that the answer is kept in, null for an answer that is
// shown; `then` are comments and paths of what is asked next with curl; `client` is how the Python package does it: {method, first, rename, drop, more, to, then}, where `then`
// are further lines, `more` fields without a name of their own, and `to` says that the method itself writes the file.

/** The variable that holds the key, as the command line and the Python package know it. */
export const KEY = "PRESSROOM_API_KEY";
const KEY_HEADER = `-H "X-API-Key: $${KEY}"`;
/** Longest argument that is written between quotes, in characters; Linux takes 128 KiB. */
const LONGEST_ARGUMENT = 8_000;
const WIDTH = 88;
/** Characters that are not seen as they are: controls, and those that turn the direction of a line. */
const UNSEEN = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
const PLAIN = /^[\w.,:/@%+=-]+$/;
/** The word that ends a text on standard input; no line of JSON is that word. */
const END = "JSON";

/** Return a value as JSON on one line, or on several when it is long; what is not seen is escaped. */
export function json(value) {
  const line = written(value, { true: "true", false: "false", null: "null" });
  return line.length <= WIDTH ? line : escaped(JSON.stringify(value, null, 2));
}

/** Return a word as a POSIX shell reads it. */
export function shellWord(text) {
  if (PLAIN.test(text) && !text.startsWith("-")) return text;
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Return the name of a file that no program takes for an option or for standard input. */
export function fileName(name) {
  return name.startsWith("-") ? `./${name}` : name;
}

export function curlLines(request, base) {
  const parts = [`curl ${shellWord(base + request.path)}`, KEY_HEADER];
  const body = isForm(request) ? formParts(request) : jsonParts(request.fields);
  const output = request.saves ? [`-o ${shellWord(fileName(request.saves))}`] : [];
  // Only what stands between the arguments is indented: their own lines are what they are.
  const line = [...parts, ...output, ...body.parts].join(" \\\n  ");
  const whole = line + (body.input ? ` <<'${END}'\n${body.input}\n${END}` : "");
  return request.then ? [whole, "", ...request.then.map(([comment, path]) => `# ${comment}\ncurl ${base}${path} ${KEY_HEADER}`)].join("\n") : whole;
}

function jsonParts(fields) {
  const text = json(fields);
  const header = "-H 'Content-Type: application/json'";
  if (text.length > LONGEST_ARGUMENT || text.includes("'")) return { parts: [header, "--data-binary @-"], input: text };
  return { parts: [header, `-d ${shellWord(text)}`] };
}

function formParts(request) {
  const files = Object.entries(request.files).map(([field, name]) => `-F ${shellWord(`${field}=@${curlName(name)}`)}`);
  const fields = Object.entries(request.fields).map(([field, value]) => {
    const text = formText(value);
    // -F reads @, < and ; in a value as its own; --form-string reads nothing.
    return `${PLAIN.test(text) && !text.startsWith("@") ? "-F" : "--form-string"} ${shellWord(`${field}=${text}`)}`;
  });
  return { parts: [...files, ...fields] };
}

/** Return the name of a file as -F reads it: in quotes where it has signs that end a name there. */
function curlName(name) {
  const safe = fileName(name);
  return /[;,"\\\s]/.test(safe) ? `"${safe.replace(/["\\]/g, "\\$&")}"` : safe;
}

export function javascriptLines(request, base) {
  const files = Object.entries(request.files ?? {});
  const used = [...(files.length ? ["readFile"] : []), ...(request.saves ? ["writeFile"] : [])];
  const imports = used.length ? [`import { ${used.join(", ")} } from "node:fs/promises";`] : [];
  const key = `"X-API-Key": process.env.${KEY}`;
  const [headers, body] = isForm(request)
    ? [`{ ${key} }`, "form"]
    : [`{ ${key}, "Content-Type": "application/json" }`, `JSON.stringify(${json(request.fields).replaceAll("\n", "\n  ")})`];
  const call = [
    ...(isForm(request) ? formLines(request, files) : []),
    `const answer = await fetch(${literal(base + request.path)}, {`,
    `  method: "POST",`,
    `  headers: ${headers},`,
    `  body: ${body},`,
    "});",
    "if (!answer.ok) throw new Error((await answer.json()).message);",
    request.saves ? `await writeFile(${literal(fileName(request.saves))}, answer.body);` : "console.log(await answer.json());",
  ];
  return [...imports, ...(imports.length ? [""] : []), ...call].join("\n");
}

function formLines(request, files) {
  return [
    "const form = new FormData();",
    ...files.map(([field, name]) => {
      return `form.set(${literal(field)}, new Blob([await readFile(${literal(fileName(name))})]), ${literal(baseName(name))});`;
    }),
    ...Object.entries(request.fields).map(([field, value]) => `form.set(${literal(field)}, ${literal(formText(value))});`),
  ];
}

export function pythonLines(request, base) {
  const call = callOf(request);
  const imports = call.includes("Path(") ? ["from pathlib import Path", ""] : [];
  const { to, then = [] } = request.client;
  const save = request.saves && !to ? [`answer.save(${literal(request.saves)})`] : [];
  const lines = [`answer = pressroom.${call}`, ...save, ...(save.length + then.length ? then : ["print(answer)"])];
  return [
    ...imports,
    "from pressroom import Pressroom",
    "",
    `pressroom = Pressroom(url=${literal(base)})  # the key is in ${KEY}`,
    ...lines,
  ].join("\n");
}

/** Return the call of the Python package's method; without one, that of the method for any route. */
function callOf(request) {
  const { method, first, rename = {}, drop = [], more = [], to } = request.client;
  if (!method) return called("submit", [literal(request.path), python(request.fields), ...filesOf(request)]);
  const files = Object.entries(request.files ?? {}).filter(([field]) => field !== first);
  const fields = Object.entries(request.fields).filter(([field]) => field !== first && !drop.includes(field));
  const unnamed = Object.fromEntries(fields.filter(([field]) => more.includes(field)));
  return called(method, [
    ...(first ? [request.files?.[first] === undefined ? python(request.fields[first]) : path(request.files[first])] : []),
    ...files.map(([field, name]) => `${rename[field] ?? field}=${path(name)}`),
    ...fields.filter(([field]) => !more.includes(field)).map(([field, value]) => `${rename[field] ?? field}=${python(value)}`),
    ...(Object.keys(unnamed).length ? [`more=${python(unnamed)}`] : []),
    ...(to && request.saves ? [`to=${literal(request.saves)}`] : []),
  ]);
}

function filesOf(request) {
  const files = Object.entries(request.files ?? {}).map(([field, name]) => `${literal(field)}: ${path(name)}`);
  return files.length ? [`files={${files.join(", ")}}`] : [];
}

function called(method, given) {
  const line = `${method}(${given.join(", ")})`;
  return line.length <= WIDTH ? line : `${method}(\n    ${given.join(",\n    ")},\n)`;
}

function path(name) {
  return `Path(${literal(name)})`;
}

/** Return a JSON value as Python writes it. */
export function python(value) {
  return written(value, { true: "True", false: "False", null: "None" });
}

function written(value, words) {
  if (value === null || value === undefined) return words.null;
  if (typeof value === "boolean") return words[value];
  if (Array.isArray(value)) return `[${value.map((one) => written(one, words)).join(", ")}]`;
  if (typeof value !== "object") return literal(value);
  return `{${Object.entries(value).map(([name, one]) => `${literal(name)}: ${written(one, words)}`).join(", ")}}`;
}

function isForm(request) {
  return Object.keys(request.files ?? {}).length > 0;
}

/** Return what a form says for a value: lists are texts with commas. */
export function formText(value) {
  return Array.isArray(value) ? value.join(", ") : String(value);
}

function baseName(name) {
  return name.slice(name.lastIndexOf("/") + 1);
}

/** Return a text or number as JavaScript and Python both read it. */
function literal(value) {
  return escaped(JSON.stringify(value));
}

function escaped(text) {
  return text.replace(UNSEEN, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
