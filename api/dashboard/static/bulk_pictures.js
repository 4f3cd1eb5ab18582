// Pictures of a table: made smaller before they are sent, and shown by thumbnails, one after the other.

let worker;
let last = Promise.resolve();
let count = 0;

/** Return {thumbnail, smaller}, Blobs or undefined; `smaller` is what to send instead of the file. */
export function shrink(file) {
  const mine = last.then(() => ask(file));
  last = mine.catch(() => null);
  return mine;
}

function ask(file) {
  if (!window.OffscreenCanvas || !file.type.startsWith("image/") || file.type === "image/svg+xml") return {};
  worker ??= new Worker(new URL("./shrink_worker.js", import.meta.url), { type: "module" });
  const id = ++count;
  return new Promise((resolve) => {
    const end = (found) => {
      worker.removeEventListener("message", hear);
      worker.removeEventListener("error", end);
      resolve(found.thumbnail || found.smaller ? found : {});
    };
    const hear = ({ data }) => data.id === id && end(data);
    worker.addEventListener("message", hear);
    worker.addEventListener("error", end);
    worker.postMessage({ id, file });
  });
}
