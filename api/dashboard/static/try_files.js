// Files: dropped onto a field, or pasted, as if they had been chosen there.

import { chooseFile } from "./try_request.js";

/** Let files be dropped onto the file fields of a form; those for one kind of file take pasted ones as well. */
export function startDrops(form) {
  for (const box of form.querySelectorAll("[data-drop]")) {
    const input = box.querySelector('input[type="file"]');
    box.addEventListener("dragover", (event) => {
      event.preventDefault();
      box.classList.add("over");
    });
    box.addEventListener("dragleave", () => box.classList.remove("over"));
    box.addEventListener("drop", (event) => {
      event.preventDefault();
      box.classList.remove("over");
      const [file] = event.dataTransfer.files;
      if (file) chooseFile(input, file);
    });
  }
}

/** Put a pasted picture into a file field. */
export function takePasted(form, input) {
  document.addEventListener("paste", (event) => {
    const file = [...event.clipboardData.files].find((one) => one.type.startsWith("image/"));
    if (file && form.contains(input)) chooseFile(input, file);
  });
}
