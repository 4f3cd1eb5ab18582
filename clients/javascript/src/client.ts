/** The client: submits work, waits for it, and fetches its result. */

import { createParser } from "eventsource-parser";
import createClient, { type Client } from "openapi-fetch";
import { PressroomError, notPressroom } from "./errors.js";
import type { components, paths } from "./schema.js";
import { type Settings, Transport, lost, sleep } from "./transport.js";

/** Larger recordings are uploaded before they are transcribed, in pieces of so many bytes. */
const MOST_IN_A_FORM = 25 * 2 ** 20;
const PIECE_BYTES = 8 * 2 ** 20;

export type Job = components["schemas"]["Job"];
export type AltText = components["schemas"]["AltTextResult"];
export type Transcript = components["schemas"]["Transcript"];
export type BlogPost = components["schemas"]["BlogMetadataResult"];

type Post<P> = P extends keyof paths ? (paths[P] extends { post: { requestBody: { content: infer C } } } ? C : never) : never;
/** Routes that make a job. */
export type Route = { [P in keyof paths]: paths[P] extends { post: { responses: { 202: unknown } } } ? P : never }[keyof paths];
/** A route's fields; a field that is a file takes a Blob or a File. */
export type Fields<P> = P extends Route
  ? { [K in keyof Union<P>]: Union<P>[K] extends string | null | undefined ? Union<P>[K] | Blob : Union<P>[K] }
  : Record<string, unknown>;
type Union<P> = Post<P>[keyof Post<P>];

export interface Options {
  /** Called with the job whenever it has progressed. */
  progress?: (job: Job) => void;
  /** The same key is the same job, charged once; a new one for each call by default. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

/** A method's options: a route's other fields, and `voice` for `voice_name`. */
type Others<P extends Route, K extends string> = Options & Partial<Omit<Fields<P>, K>> & { voice?: string };

export interface Sound {
  bytes: Uint8Array;
  contentType: string;
  jobId: string | null;
  creditsUsed: number;
  engine: string | null;
  voice: string | null;
}

/** A Pressroom service, and a key for it. */
export class Pressroom {
  /** Every route, typed: `client.api.GET("/usage")` resolves to `{ data, response }`, and throws PressroomError. */
  readonly api: Client<paths>;
  readonly #transport: Transport;

  constructor(settings: Settings = {}) {
    this.#transport = new Transport(settings);
    this.api = createClient<paths>({ baseUrl: this.#transport.url, fetch: (request) => this.#transport.send(() => request.clone()) });
  }

  /** Submit work to any route, and return its job without waiting. */
  async submit<P extends Route | (string & {})>(route: P, fields: Fields<P>, options: Options = {}): Promise<Job> {
    const response = await this.#post(route, fields, options, "respond-async");
    const id = response.headers.get("X-Job-Id");
    if (!id) throw notPressroom(response.url, response.status);
    // A repeated Idempotency-Key whose job has ended is answered with the result.
    if (response.status === 202) return this.#read<Job>(response);
    await response.body?.cancel();
    return this.job(id, options);
  }

  /** Submit work, wait for it, and return its result. Throws PressroomError if it failed. */
  async run<P extends Route | (string & {})>(route: P, fields: Fields<P>, options: Options = {}): Promise<Response> {
    const job = await this.submit(route, fields, options);
    options.progress?.(job);
    await this.wait(job.id, options);
    return this.result(job.id, options);
  }

  /** Return a job. */
  async job(id: string, options: Pick<Options, "signal"> = {}): Promise<Job> {
    return this.#read<Job>(await this.#get(`/jobs/${encodeURIComponent(id)}`, options));
  }

  /** Return a job when it has ended, in any state. */
  async wait(id: string, options: Options = {}): Promise<Job> {
    for await (const job of this.events(id, options)) {
      options.progress?.(job);
      if (job.finished_at) return job;
    }
    return this.job(id, options);
  }

  /** Iterate over a job whenever it has progressed, the last time when it has ended. */
  async *events(id: string, options: Pick<Options, "signal"> = {}): AsyncGenerator<Job> {
    for (;;) {
      const response = await this.#get(`/jobs/${encodeURIComponent(id)}/events`, options);
      const jobs: Job[] = [];
      const parser = createParser({ onEvent: (event) => jobs.push(JSON.parse(event.data)) });
      try {
        for await (const text of pieces(response.body?.pipeThrough(new TextDecoderStream()))) {
          parser.feed(text);
          for (let job = jobs.shift(); job; job = jobs.shift()) {
            yield job;
            if (job.finished_at) return;
          }
        }
      } catch {
        options.signal?.throwIfAborted();
      }
      // The events broke off, or a proxy holds them back.
      await sleep(0.5, options.signal);
      const job = await this.job(id, options);
      yield job;
      if (job.finished_at) return;
    }
  }

  /** Return the result of a job that has ended: `await response.json()`, `.blob()` or its `body`. */
  async result(id: string, options: Pick<Options, "signal"> = {}): Promise<Response> {
    return this.#get(`/jobs/${encodeURIComponent(id)}/result`, options);
  }

  /** Cancel a job, and return it. */
  async cancel(id: string): Promise<Job> {
    return this.#read<Job>(await this.#send("POST", `/jobs/${encodeURIComponent(id)}/cancel`));
  }

  /** Speak a text of up to 10,000 characters as WAV. */
  async speak(text: string, options: Others<"/tts", "text" | "timestamps"> = {}): Promise<Sound> {
    return this.#sound("/tts", { text, ...options });
  }

  /** Speak a text of up to 20,000 characters as one MP3. */
  async speakLong(text: string, options: Others<"/tts/batch", "text" | "timestamps"> = {}): Promise<Sound> {
    return this.#sound("/tts/batch", { text, ...options });
  }

  /** Speak a text of up to 50,000 characters, in pieces of one MP3 as they are made. Leaving the loop ends the job. */
  async *streamSpeech(text: string, options: Others<"/tts/stream", "text"> = {}): AsyncGenerator<Uint8Array> {
    const [fields, own] = split({ text, ...options });
    const response = await this.#post("/tts/stream", fields, own);
    try {
      yield* pieces(response.body);
    } catch (error) {
      own.signal?.throwIfAborted();
      throw lost(error, `POST ${this.#transport.url}/tts/stream`, "The stream broke off", "Speak the rest of the text again.");
    }
  }

  /** Return the text of a recording of up to 2 GiB, with the times of segments and words. */
  async transcribe(audio: Blob, options: Others<"/tts/stt", "audio" | "response_format"> = {}): Promise<Transcript> {
    const isLarge = audio.size > MOST_IN_A_FORM;
    const sound = isLarge ? { upload: await this.upload(audio, options) } : { audio };
    const [fields, own] = split({ ...sound, response_format: "verbose_json", ...options });
    return this.#read<Transcript>(await this.run((isLarge ? "/transcriptions" : "/tts/stt") as string, fields, own));
  }

  /** Upload a file of up to 2 GiB in pieces, and return the id that a request sends as `upload`. */
  async upload(file: Blob, options: { name?: string } & Pick<Options, "signal"> = {}): Promise<string> {
    const name = options.name ?? (file as Partial<File>).name ?? "";
    const signal = options.signal ? { signal: options.signal } : {};
    const base64 = btoa(String.fromCharCode(...new TextEncoder().encode(name)));
    const headers = { "Upload-Length": String(file.size), "Tus-Resumable": "1.0.0", ...(name && { "Upload-Metadata": `filename ${base64}` }) };
    const { id } = await this.#read<{ id: string }>(await this.#send("POST", "/uploads", { headers, ...signal }));
    for (let offset = 0; offset < file.size; ) offset = await this.#sendPiece(id, file, offset, signal);
    return id;
  }

  /** Send the next piece of an upload, and return how many bytes have arrived. */
  async #sendPiece(id: string, file: Blob, offset: number, init: RequestInit): Promise<number> {
    const headers = { "Upload-Offset": String(offset), "Content-Type": "application/offset+octet-stream", "Tus-Resumable": "1.0.0" };
    try {
      const body = file.slice(offset, offset + PIECE_BYTES);
      const response = await this.#send("PATCH", `/uploads/${encodeURIComponent(id)}`, { ...init, headers, body });
      return Number(response.headers.get("Upload-Offset"));
    } catch (error) {
      // A part of it arrived before the connection broke, and sending all of it again was refused.
      const arrived = error instanceof PressroomError ? Number(error.details["upload_offset"]) : NaN;
      if (!(arrived > offset)) throw error;
      return arrived;
    }
  }

  /** Describe a picture: its URL (http, https or data), or a Blob. */
  async describe(image: string | Blob, options: Others<"/generate", "image" | "image_url"> = {}): Promise<AltText> {
    const [fields, own] = split({ ...(typeof image === "string" ? { image_url: image } : { image }), ...options });
    return this.#read<AltText>(await this.run("/generate" as string, fields, own));
  }

  /** Make covers, an excerpt, a category and tags for a post. */
  async blog(title: string, content: string, options: Others<"/blog/generate", "title" | "content"> = {}): Promise<BlogPost> {
    const [fields, own] = split({ title, content, ...options });
    return this.#read<BlogPost>(await this.run("/blog/generate" as string, fields, own));
  }

  async #sound(route: string, given: Record<string, unknown> & Options): Promise<Sound> {
    const [fields, own] = split(given);
    const response = await this.run(route, fields, own);
    const header = (name: string) => response.headers.get(name);
    return {
      bytes: new Uint8Array(await this.#whole(response, () => response.arrayBuffer())),
      contentType: header("Content-Type") ?? "",
      jobId: header("X-Job-Id"),
      creditsUsed: Number(header("X-Credits-Used")),
      engine: header("X-Engine"),
      voice: header("X-Voice"),
    };
  }

  #post(route: string, fields: Record<string, unknown>, options: Options, prefer?: string): Promise<Response> {
    const headers = new Headers({ "Idempotency-Key": options.idempotencyKey ?? crypto.randomUUID() });
    if (prefer) headers.set("Prefer", prefer);
    const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
    let body: FormData | string;
    if (given.some(([, value]) => value instanceof Blob)) {
      body = new FormData();
      for (const [name, value] of given) body.append(name, value instanceof Blob ? value : String(value));
    } else {
      body = JSON.stringify(Object.fromEntries(given));
      headers.set("Content-Type", "application/json");
    }
    return this.#send("POST", route, { headers, body, ...(options.signal && { signal: options.signal }) });
  }

  #get(path: string, options: Pick<Options, "signal">): Promise<Response> {
    return this.#send("GET", path, options.signal ? { signal: options.signal } : {});
  }

  #send(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    return this.#transport.send(() => new Request(this.#transport.url + path, { method, ...init }));
  }

  #read<T>(response: Response): Promise<T> {
    return this.#whole(response, async () => {
      const text = await response.text();
      try {
        return JSON.parse(text);
      } catch {
        throw notPressroom(response.url, response.status);
      }
    });
  }

  async #whole<T>(response: Response, read: () => Promise<T>): Promise<T> {
    return read().catch((error) => {
      throw error instanceof TypeError ? lost(error, `GET ${response.url}`, "The answer broke off", "Ask again.") : error;
    });
  }
}

/** Split a method's options into a request's fields and those for the client. */
function split(given: Record<string, unknown> & Options): [Record<string, unknown>, Options] {
  const { progress, idempotencyKey, signal, ...fields } = given;
  return [fields, { ...(progress && { progress }), ...(idempotencyKey && { idempotencyKey }), ...(signal && { signal }) }];
}

/** Iterate over a stream, and cancel it when the loop is left: not every browser's streams can be iterated over. */
async function* pieces<T>(stream: ReadableStream<T> | null | undefined): AsyncGenerator<T> {
  const reader = stream?.getReader();
  if (!reader) return;
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
