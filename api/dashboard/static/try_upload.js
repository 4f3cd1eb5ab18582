// Upload: a file that is too large for a form, in pieces (docs/uploads.md); after a lost connection it goes on.

import { isFinal, send } from "./try_job.js";

const PIECE_BYTES = 4 * 2 ** 20;
/** Longest pause between two failures, of which it takes about ten minutes. */
const LONGEST_PAUSE_MS = 10_000;
const megabytes = (bytes) => Math.floor(bytes / 1e6);

/** Upload a file, and return the id that a request sends as `upload`; `onJob` is told how much has arrived. */
export async function uploadFile(file, { onJob = () => {}, signal } = {}) {
  const name = btoa(String.fromCharCode(...new TextEncoder().encode(file.name)));
  const headers = { "Upload-Length": file.size, "Upload-Metadata": `filename ${name}` };
  const { id } = await (await send("/uploads", { method: "POST", headers, signal })).json();
  try {
    await sendPieces(`/uploads/${id}`, file, signal, (arrived) => onJob({ state: "uploading", progress: { done: megabytes(arrived), total: megabytes(file.size), unit: "MB" } }));
  } catch (error) {
    send(`/uploads/${id}`, { method: "DELETE" }).catch(() => null); // else the service deletes it an hour later
    throw error;
  }
  return id;
}

async function sendPieces(path, file, signal, onSent) {
  for (let arrived = 0, failures = 0, isLost = false; arrived < file.size; ) {
    onSent(arrived);
    const headers = { "Upload-Offset": arrived, "Content-Type": "application/offset+octet-stream" };
    const piece = { method: "PATCH", headers, body: file.slice(arrived, arrived + PIECE_BYTES), signal };
    try {
      // A part of a piece may have arrived before its connection broke.
      const answer = await send(path, isLost ? { method: "HEAD", signal } : piece);
      const now = Number(answer.headers.get("Upload-Offset"));
      if (now > arrived) failures = 0;
      [arrived, isLost] = [now, false];
    } catch (error) {
      if (signal?.aborted || isFinal(error.status === 409 ? { status: 0 } : error, ++failures)) throw error;
      isLost = true;
      await pause(Math.min(1_000 * failures, LONGEST_PAUSE_MS), signal);
    }
  }
}

/** Wait, but not longer than until the network is back, or the upload is cancelled. */
function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
    addEventListener("online", resolve, { once: true });
    signal?.addEventListener("abort", resolve, { once: true });
  });
}
