// OpenAI's JavaScript client as its users have it: prints what it was answered, as JSON.
// Arguments: the base URL, the key, and a recording.
import { createReadStream } from "node:fs";
import OpenAI, { APIError } from "openai";

const [baseURL, apiKey, recording] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });

const speech = await client.audio.speech.create({ model: "tts-1", voice: "alloy", input: "Good morning!" });
const sound = Buffer.from(await speech.arrayBuffer());

const file = () => createReadStream(recording);
const verbose = await client.audio.transcriptions.create({
  model: "whisper-1",
  file: file(),
  response_format: "verbose_json",
  timestamp_granularities: ["word", "segment"],
});

const events = [];
const stream = await client.audio.transcriptions.create({ model: "gpt-4o-mini-transcribe", file: file(), stream: true });
for await (const event of stream) events.push(event);

const models = [];
for await (const model of client.models.list()) models.push(model.id);

let refused = null;
try {
  await client.audio.speech.create({ model: "tts-1", voice: "nobody", input: "Hi." });
} catch (error) {
  if (!(error instanceof APIError)) throw error;
  refused = { status: error.status, code: error.code, param: error.param };
}

console.log(JSON.stringify({ first: sound.subarray(0, 2).toString("hex"), bytes: sound.length, verbose, events, models, refused }));
