// Plays an episode, and marks the sentence that is heard: <script src="…/player.js" data-episode="ID"></script>
(() => {
  const script = document.currentScript;
  const files = new URL(`/episodes/${script.dataset.episode}/`, script.src).href;
  const style = new CSSStyleSheet(); // a page's policy may forbid styles within the page, but not this
  style.replaceSync(`
    :host { display: block; font: inherit; }
    audio { width: 100%; }
    [role=region] { max-height: 16em; overflow-y: auto; line-height: 1.6; margin: .5em 0; }
    [role=region]:focus-visible { outline: 2px solid; outline-offset: 2px; }
    p { margin: 0; }
    [aria-current] { background: Mark; color: MarkText; }
    ol { margin: .5em 0; }
    button { font: inherit; color: inherit; background: none; border: 0; padding: .25em 0; text-align: start;
      text-decoration: underline; cursor: pointer; }`);
  const make = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };

  class PressroomPlayer extends HTMLElement {
    async connectedCallback() {
      if (this.shadowRoot) return; // it was moved
      const root = this.attachShadow({mode: 'open'}), {files, label} = this;
      root.adoptedStyleSheets = [style];
      const answer = await fetch(`${files}chapters.json`);
      if (!answer.ok) return; // the episode has ended
      const {title, language, chapters} = await answer.json();
      const track = make('track', {kind: 'metadata', src: `${files}transcript.vtt`, default: true});
      const audio = make('audio', {controls: true, preload: 'metadata', crossOrigin: 'anonymous', src: `${files}audio.mp3`,
        ariaLabel: title}, track);
      const text = make('p', {lang: language ?? ''});
      const region = make('div', {role: 'region', tabIndex: 0, ariaLabel: label ?? 'Transcript'}, text);
      const places = make('ol', {hidden: !chapters.length}, ...chapters.map(({startTime, title: name}) =>
        make('li', {}, make('button', {type: 'button', textContent: name, onclick: () => {
          audio.currentTime = startTime;
          audio.play();
        }}))));
      root.append(audio, places, region);
      track.addEventListener('load', () => this.read(track.track, text, region));
      track.addEventListener('error', () => region.remove()); // an episode without a transcript is heard all the same
      track.track.mode = 'hidden'; // its cues are loaded and told, and not shown
    }

    read(track, text, region) {
      const sentences = new Map([...track.cues].map((cue) => [cue, make('span', {}, cue.getCueAsHTML().textContent.replace(/\n/g, ' '))]));
      for (const sentence of sentences.values()) text.append(sentence, ' ');
      track.addEventListener('cuechange', () => {
        text.querySelector('[aria-current]')?.removeAttribute('aria-current');
        const sentence = sentences.get(track.activeCues[track.activeCues.length - 1]);
        if (!sentence) return;
        sentence.setAttribute('aria-current', 'true');
        // The page itself does not move, wherever its reader is.
        region.scrollTop += sentence.getBoundingClientRect().top - region.getBoundingClientRect().top - region.clientHeight / 3;
      });
    }
  }

  if (!customElements.get('pressroom-player')) customElements.define('pressroom-player', PressroomPlayer);
  script.after(Object.assign(document.createElement('pressroom-player'), {files, label: script.dataset.label}));
})();
