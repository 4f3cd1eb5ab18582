// Speech: a voice is picked by listening, and a text is heard.

import { startDrops } from "./try_files.js";
import { start } from "./try_page.js";
import { hearStream, showSound } from "./try_sound.js";
import { startVoices } from "./try_voices.js";

/** A named voice needs no detection; with their times, an answer is a document that leads to the sound. */
function build(request) {
  if (request.fields.voice_name && request.fields.language === "auto") delete request.fields.language;
  if (!request.fields.timestamps) return request;
  const then = [`answer.save("${request.saves}")`, "print(answer.srt)"];
  return { ...request, sound: request.saves, saves: null, client: { ...request.client, then } };
}

const page = start({
  build,
  show: showSound,
  run: (request, uploads, context) => (context.kind.name === "speech_stream" ? hearStream(request, uploads, context) : null),
});
startDrops(page.form);
await startVoices(page.form);
