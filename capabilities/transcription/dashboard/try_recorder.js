// Recorder: what the microphone hears becomes the file of a form's field, where the browser allows it.

import { clock, make, saveLink } from "./try_dom.js";
import { chooseFiles } from "./try_request.js";

const SUFFIXES = { "audio/webm": "webm", "audio/mp4": "m4a", "audio/ogg": "ogg" };

/** Put a button into `box` that records into the file field `input`. */
export function startRecorder(input, box) {
  if (!navigator.mediaDevices?.getUserMedia || !window.MediaRecorder) {
    box.append(make("p", { class: "faint" }, "Recording works on https and localhost only."));
    return;
  }
  const state = { input, recorder: null };
  const button = make("button", { type: "button", class: "second", "aria-pressed": "false" }, "Record");
  const told = make("span", { class: "faint", role: "status" });
  button.addEventListener("click", () => (state.recorder ? state.recorder.stop() : record(state, button, told)));
  box.append(button, " ", told);
}

async function record(state, button, told) {
  try {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    state.recorder = new MediaRecorder(stream);
  } catch {
    told.textContent = "Allow the microphone in your browser to record.";
    return;
  }
  const pieces = [];
  const began = performance.now();
  const timer = setInterval(() => (told.textContent = clock((performance.now() - began) / 1_000)), 500);
  state.recorder.addEventListener("dataavailable", (event) => pieces.push(event.data));
  state.recorder.addEventListener("stop", () => {
    clearInterval(timer);
    for (const track of state.recorder.stream.getTracks()) track.stop();
    keep(state, new Blob(pieces, { type: state.recorder.mimeType }), told);
    state.recorder = null;
    button.textContent = "Record";
    button.setAttribute("aria-pressed", "false");
  });
  state.recorder.start();
  button.textContent = "Stop";
  button.setAttribute("aria-pressed", "true");
}

function keep(state, sound, told) {
  const type = sound.type.split(";")[0];
  const file = new File([sound], `recording.${SUFFIXES[type] ?? "webm"}`, { type });
  chooseFiles(state.input, [file]);
  told.replaceChildren(saveLink(file, file.name, `Download ${file.name}`));
}
