// Transcript files: a transcript, with what a reader has changed, as subtitles, text and Word document.

import { docx } from "./bulk_export.js";

/** Return the segments with a reader's texts in the place of what was heard. */
export function edited(transcript, texts) {
  return (transcript.segments ?? []).map((segment, place) => (texts?.[place] === undefined ? segment : { ...segment, text: texts[place], words: null }));
}

const stamp = (seconds, sign) => {
  const whole = Math.round(seconds * 1_000);
  const parts = [Math.floor(whole / 3_600_000), Math.floor(whole / 60_000) % 60, Math.floor(whole / 1_000) % 60];
  return `${parts.map((part) => String(part).padStart(2, "0")).join(":")}${sign}${String(whole % 1_000).padStart(3, "0")}`;
};

/** Return a transcript's files by their endings, each a function that makes it. */
export function filesOf(transcript, texts) {
  const segments = edited(transcript, texts);
  const cues = (sign, number) => segments.map((one, place) => `${number ? `${place + 1}\n` : ""}${stamp(one.start, sign)} --> ${stamp(one.end, sign)}\n${one.text.trim()}\n`).join("\n");
  const plain = texts && segments.length ? segments.map((one) => one.text.trim().replaceAll("\n", " ")).join(" ") : transcript.text;
  return {
    srt: async () => cues(",", true),
    vtt: async () => `WEBVTT\n\n${cues(".", false)}`,
    txt: async () => `${plain}\n`,
    docx: async () => docx(paragraphs(segments, plain)),
  };
}

/** Return paragraphs: a new one after a pause, or where one has become long and a sentence ends. */
function paragraphs(segments, plain) {
  if (!segments.length) return [plain];
  const found = [];
  let before;
  for (const one of segments) {
    const text = one.text.trim().replaceAll("\n", " ");
    const isNew = !before || one.start - before.end > 2 || (found.at(-1).length > 600 && /[.!?…]$/.test(found.at(-1)));
    if (isNew) found.push(text);
    else found[found.length - 1] += ` ${text}`;
    before = one;
  }
  return found;
}
