// Shrink: makes a picture smaller, and a thumbnail of it, away from the page's own thread.

/** Engines look at no more; 30 pictures of a camera are 9 MB instead of 150. */
const LONGEST_SIDE = 2_048;
const THUMBNAIL_SIDE = 192;

addEventListener("message", async ({ data: { id, file } }) => {
  try {
    const picture = await createImageBitmap(file);
    const thumbnail = await scaled(picture, THUMBNAIL_SIDE, 0.75);
    const isLarge = Math.max(picture.width, picture.height) > LONGEST_SIDE;
    const smaller = isLarge ? await scaled(picture, LONGEST_SIDE, 0.88) : null;
    picture.close();
    // A drawing may be smaller as it is.
    postMessage({ id, thumbnail, smaller: smaller && smaller.size < file.size ? smaller : null });
  } catch {
    postMessage({ id }); // the service reads more formats than a browser
  }
});

async function scaled(picture, side, quality) {
  const scale = Math.min(1, side / Math.max(picture.width, picture.height));
  const canvas = new OffscreenCanvas(Math.max(1, Math.round(picture.width * scale)), Math.max(1, Math.round(picture.height * scale)));
  const context = canvas.getContext("2d");
  context.fillStyle = "#fff"; // for transparent parts, as JPEG has none
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return canvas.convertToBlob({ type: "image/jpeg", quality });
}
