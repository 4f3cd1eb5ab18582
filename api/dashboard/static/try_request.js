// Request: what a form says, as the request that its lines show and that is sent.

/** Return the fields of a form that belong to a kind, with their JSON values; what stands at its default is left out. */
export function readFields(form, kind) {
  const fields = {};
  for (const control of form.querySelectorAll("[data-type]")) {
    if (!belongs(control, kind) || control.disabled) continue;
    const value = readValue(control);
    if (value === undefined) continue;
    if (!control.required && JSON.stringify(value) === control.dataset.default) continue;
    fields[control.name] = value;
  }
  return fields;
}

/** Return the file of each of a form's file fields that belongs to a kind and has one. */
export function readFiles(form, kind) {
  const chosen = [...form.querySelectorAll('input[type="file"][name]:not([data-only-many])')].filter((input) => belongs(input, kind));
  return Object.fromEntries(chosen.filter((input) => input.files.length).map((input) => [input.name, input.files[0]]));
}

/** Show the fields of one kind, and no others; a field is not needed where a file stands for it. */
export function showKind(form, kind) {
  for (const field of form.querySelectorAll("[data-of]")) {
    const shown = field.dataset.of.split(" ").includes(kind);
    field.hidden = !shown;
    for (const control of field.querySelectorAll("input, textarea, select")) control.disabled = !shown;
  }
  for (const input of form.querySelectorAll("[data-stands-for]")) {
    const other = form.elements[input.dataset.standsFor];
    other.dataset.wanted ??= other.required;
    other.required = other.dataset.wanted === "true" && !input.files.length;
  }
}

/** Fill a form with what a job was asked, to ask again with changes. Files can't be filled in. */
export function fillForm(form, { kind, fields }) {
  const radio = form.querySelector(`[name="kind"][value="${CSS.escape(kind)}"]`);
  if (radio) radio.checked = true;
  for (const control of form.querySelectorAll("[data-type]")) {
    const value = fields[control.name];
    if (value === undefined || value === null) continue;
    const before = control.value;
    if (control.dataset.type === "boolean") control.checked = Boolean(value);
    else if (control.dataset.type === "lines") control.value = [value].flat().join("\n");
    else control.value = typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
    if (control.value !== before) control.closest("details")?.setAttribute("open", "");
  }
}

/** Put files into a form's field, as if somebody had chosen them. */
export function chooseFiles(input, files) {
  const chosen = new DataTransfer();
  for (const file of files) chosen.items.add(file);
  input.files = chosen.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

function belongs(control, kind) {
  const field = control.closest("[data-of]");
  return !field || field.dataset.of.split(" ").includes(kind);
}

function readValue(control) {
  switch (control.dataset.type) {
    case "boolean":
      return control.checked;
    case "integer":
    case "number":
      return control.value.trim() === "" || Number.isNaN(Number(control.value)) ? undefined : Number(control.value);
    case "lines": {
      const lines = control.value.split("\n").map((line) => line.trim()).filter(Boolean);
      return lines.length ? lines : undefined;
    }
    case "json":
      return readJson(control);
    default:
      return control.value === "" ? undefined : control.value;
  }
}

function readJson(control) {
  let value;
  try {
    value = control.value.trim() ? JSON.parse(control.value) : undefined;
    control.setCustomValidity("");
  } catch (error) {
    control.setCustomValidity(`Invalid JSON: ${error.message}`);
  }
  return value;
}
