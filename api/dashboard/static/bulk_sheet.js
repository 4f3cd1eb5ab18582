// Sheet: a list of the reader's own, CSV or a spreadsheet. Its columns are chosen on the page, and each row is checked.

import { make } from "./try_dom.js";
import { send } from "./try_job.js";

/** Rows that are checked by one request. */
const CHECKED = 100;

/** Return {read, isOpen}. `add(rows)` is called with what a list has. */
export function startSheets(state, add) {
  const place = make("div", { class: "bulk-sheet" });
  const read = async (file) => {
    state.page.status.replaceChildren(place);
    place.replaceChildren(make("p", { role: "status" }, `Reading ${file.name} …`));
    try {
      const sheet = await (await send(`/dashboard/sheets/${state.page.form.dataset.slug}`, { method: "POST", body: file })).json();
      askColumns(state, place, { ...sheet, name: file.name }, add);
    } catch (error) {
      place.replaceChildren(make("p", { class: "fault", role: "alert" }, error.message));
    }
    state.page.update();
  };
  return { read, isOpen: () => place.isConnected && Boolean(place.querySelector("fieldset")) };
}

/** Ask which column is which; those that are told by their names are chosen already. */
function askColumns(state, place, sheet, add) {
  const choices = sheet.fields.map((field) => {
    const options = [["", field.is_required ? "Choose a column" : "–"], ...sheet.columns.map((name, column) => [column, name])];
    const select = make("select", { id: `column-${field.name}` }, options.map(([value, text]) => make("option", { value }, text)));
    select.value = field.column ?? "";
    return { field, select };
  });
  const example = make("p", { class: "faint" });
  const button = make("button", { type: "button" }, "Check the rows");
  const tell = () => {
    const { field, select } = choices.find((one) => one.field.is_required);
    const first = select.value === "" ? "" : sheet.rows[0]?.cells[select.value];
    example.textContent = first ? `In the first row, ${field.label.toLowerCase()} is “${first.slice(0, 80)}”.` : "";
    button.disabled = select.value === "";
  };
  button.addEventListener("click", () => check(state, place, sheet, choices, add));
  place.replaceChildren(
    make("fieldset", {}, make("legend", {}, `${sheet.name}: ${sheet.rows.length.toLocaleString()} rows`),
      sheet.left_out ? make("p", { class: "note" }, `Only the first ${sheet.rows.length.toLocaleString()} rows are taken; ${sheet.left_out.toLocaleString()} more are left out.`) : "",
      choices.map(({ field, select }) => make("div", { class: "field" }, make("label", { for: select.id }, field.label), select)), example, button),
  );
  choices.forEach(({ select }) => select.addEventListener("change", tell));
  tell();
  button.focus();
}

async function check(state, place, sheet, choices, add) {
  const settings = state.how.settings(state.fields());
  const rows = sheet.rows.map(({ line, cells }) => {
    const chosen = choices.filter(({ select }) => select.value !== "").map(({ field, select }) => [field.name, (cells[select.value] ?? "").trim()]);
    const fields = Object.fromEntries(chosen.filter(([, text]) => text));
    const name = String(fields.name ?? fields[choices.find(({ field }) => field.is_required).field.name] ?? `Row ${line}`);
    return { name: name.slice(0, 200), fields, cells, line, file: null, state: "ready", texts: {} };
  });
  const asked = [...place.children].filter((one) => !one.matches(".fault"));
  place.replaceChildren(make("p", { role: "status" }, "Checking …"));
  try {
    await checkRows(state, settings, rows);
  } catch (error) {
    place.replaceChildren(...asked, make("p", { class: "fault", role: "alert" }, error.message));
    return;
  }
  state.ownColumns = sheet.columns;
  place.remove();
  add(rows);
}

async function checkRows(state, settings, rows) {
  for (let first = 0; first < rows.length; first += CHECKED) {
    const some = rows.slice(first, first + CHECKED);
    const requests = some.map((row) => ({ ...settings, ...row.fields }));
    const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ requests }) };
    const found = await (await send(`/dashboard/sheets/${state.page.form.dataset.slug}/check`, options)).json();
    found.forEach((one, at) => Object.assign(some[at], { credits: one.credits }, one.fault ? { state: "faulty", fault: `Line ${some[at].line}: ${one.fault}` } : {}));
  }
}
