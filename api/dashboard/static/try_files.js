// Files: dropped onto a field, or pasted, as if they had been chosen there.

import { make } from "./try_dom.js";
import { chooseFiles } from "./try_request.js";

/** Let files be dropped onto the file fields of a form; those for one kind of file take pasted ones as well. */
export function startDrops(form) {
  for (const box of form.querySelectorAll("[data-drop]")) {
    const input = box.querySelector('input[type="file"]');
    const chosen = box.querySelector("[data-chosen]");
    box.classList.add("ready");
    // On the box, so that what many at once have taken out of the field is gone by then.
    box.addEventListener("change", () => {
      box.querySelector(".left-out")?.remove();
      chosen.textContent = [...input.files].map((file) => file.name).join(", ");
    });
    box.addEventListener("dragover", (event) => {
      event.preventDefault();
      box.classList.add("over");
    });
    box.addEventListener("dragleave", () => box.classList.remove("over"));
    box.addEventListener("drop", (event) => {
      event.preventDefault();
      box.classList.remove("over");
      choose(input, [...event.dataTransfer.files]);
    });
  }
}

/** Put a pasted picture into a file field. */
export function takePasted(form, input) {
  document.addEventListener("paste", (event) => {
    if (form.contains(input)) choose(input, [...event.clipboardData.files].filter((one) => one.type.startsWith("image/")));
  });
}

/** Choose all files, or, where one alone is taken, the first, and say that the others are left out. */
function choose(input, files) {
  if (!files.length) return;
  chooseFiles(input, input.multiple ? files : files.slice(0, 1));
  if (files.length === 1 || input.multiple) return;
  const names = files.slice(1).map((file) => file.name).join(", ");
  input.after(make("p", { class: "note left-out", role: "status" }, `Only ${files[0].name} was taken: this page sends one file at a time. Left out: ${names}.`));
}
