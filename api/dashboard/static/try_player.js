// Player: a sound with its words. The word that is heard is marked; a click on a word plays from there.

import { clock, make } from "./try_dom.js";

/** Below this, an engine is not sure of a word. */
const UNSURE = 0.5;

/**
 * Return the words of some segments as buttons that play `audio` from there.
 *
 * A segment is {start, end, text, words, speaker}; words are {start, end, word, probability}. All words are one stop of the Tab
 * key: the arrow keys go from word to word.
 */
export function words(audio, segments) {
  const spans = [];
  const paragraphs = segments.map((segment) => {
    const seek = make("button", { type: "button", class: "time", "aria-label": `Play from ${clock(segment.start)}`, click: () => playFrom(audio, segment.start) }, clock(segment.start));
    const own = (segment.words?.length ? segment.words : [{ ...segment, word: segment.text }]).map((word) => wordButton(audio, word));
    spans.push(...own);
    const speaker = segment.speaker ? [make("b", {}, `${segment.speaker}:`), " "] : [];
    return make("p", {}, seek, " ", speaker, own.flatMap((span) => [span, " "]));
  });
  if (spans.length) spans[0].tabIndex = 0;
  const box = make("div", { class: "words", role: "group", "aria-label": "Words; press Enter to hear one" }, paragraphs);
  box.addEventListener("keydown", (event) => move(spans, event));
  follow(audio, spans);
  return box;
}

function wordButton(audio, word) {
  const isUnsure = word.probability !== null && word.probability !== undefined && word.probability < UNSURE;
  const span = make("button", { type: "button", class: isUnsure ? "word unsure" : "word", tabindex: "-1", title: isUnsure ? "The engine is unsure of this word" : null }, word.word.trim());
  span.dataset.start = word.start;
  span.addEventListener("click", () => playFrom(audio, word.start));
  return span;
}

function playFrom(audio, seconds) {
  audio.currentTime = seconds;
  audio.play();
}

function move(spans, event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const place = spans.indexOf(document.activeElement);
  if (!step || place < 0) return;
  const next = spans[Math.min(Math.max(place + step, 0), spans.length - 1)];
  event.preventDefault();
  spans[place].tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

/** Mark the word that is heard, while the sound plays. */
function follow(audio, spans) {
  const starts = spans.map((span) => Number(span.dataset.start));
  let marked = -1;
  const mark = () => {
    const place = lastBefore(starts, audio.currentTime);
    if (place !== marked) {
      spans[marked]?.removeAttribute("aria-current");
      spans[place]?.setAttribute("aria-current", "true");
      marked = place;
    }
    if (!audio.paused && !audio.ended) requestAnimationFrame(mark);
  };
  audio.addEventListener("play", mark);
  audio.addEventListener("seeked", mark);
}

/** Return the place of the last number that is not larger than `limit`; -1 when all are. Numbers are in order. */
export function lastBefore(numbers, limit) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Return a player of a sound, which is a Blob or an address. */
export function player(source, label) {
  const audio = make("audio", { controls: true, preload: "metadata", "aria-label": label });
  audio.src = source instanceof Blob ? URL.createObjectURL(source) : source;
  return audio;
}
