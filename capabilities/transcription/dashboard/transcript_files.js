// Transcript files: a transcript, with what a reader has changed, as subtitles, text and Word document.

import { docx } from "./bulk_export.js";

/** Return the segments with a reader's texts in the place of what was heard, and the names of the speakers. */
export function edited(transcript, { texts, names } = {}) {
  return (transcript.segments ?? []).map((segment, place) => ({
    ...segment,
    ...(texts?.[place] !== undefined && { text: texts[place], words: null }),
    ...(segment.speaker && { speaker: names?.[segment.speaker] || segment.speaker }),
  }));
}

/** Return a segment's text, with the speaker in front where that is another one than before. */
const told = (segment, before) => (segment.speaker && segment.speaker !== before?.speaker ? `${segment.speaker}: ${segment.text.trim()}` : segment.text.trim());

const stamp = (seconds, sign) => {
  const whole = Math.round(seconds * 1_000);
  const parts = [Math.floor(whole / 3_600_000), Math.floor(whole / 60_000) % 60, Math.floor(whole / 1_000) % 60];
  return `${parts.map((part) => String(part).padStart(2, "0")).join(":")}${sign}${String(whole % 1_000).padStart(3, "0")}`;
};

/** Return a transcript's files by their endings, each a function that makes it; `own` has a reader's texts and names. */
export function filesOf(transcript, own = {}) {
  const segments = edited(transcript, own);
  const cues = (sign, number) => segments.map((one, place) => `${number ? `${place + 1}\n` : ""}${stamp(one.start, sign)} --> ${stamp(one.end, sign)}\n${told(one, segments[place - 1])}\n`).join("\n");
  const isOwn = (own.texts || transcript.speakers) && segments.length;
  const plain = isOwn ? paragraphs(segments, "").join(transcript.speakers ? "\n\n" : " ") : transcript.text;
  return {
    srt: async () => cues(",", true),
    vtt: async () => `WEBVTT\n\n${cues(".", false)}`,
    txt: async () => `${plain}\n`,
    docx: async () => docx(paragraphs(segments, plain)),
  };
}

/** Return paragraphs: a new one where somebody else speaks, after a pause, or where one has become long and a sentence ends. */
function paragraphs(segments, plain) {
  if (!segments.length) return [plain];
  const found = [];
  let before;
  for (const one of segments) {
    const text = told(one, before).replaceAll("\n", " ");
    const isNew = !before || one.speaker !== before.speaker || one.start - before.end > 2 || (found.at(-1).length > 600 && /[.!?…]$/.test(found.at(-1)));
    if (isNew) found.push(text);
    else found[found.length - 1] += ` ${text}`;
    before = one;
  }
  return found;
}
