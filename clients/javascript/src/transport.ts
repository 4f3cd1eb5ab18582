/** Transport: sends requests to one service, again while it restarts or asks for a pause. */

import { PressroomError, notPressroom, refusal } from "./errors.js";

/** Statuses after which the same request may succeed, and those that mean that nothing was done. */
const TEMPORARY = [429, 502, 503, 504];
const UNDONE = [429, 503];
/** Codes with one of those after which the work may go on: it is sent again only under an Idempotency-Key. */
const PERHAPS_DONE = ["database_interrupted", "restarting"];
/** Seconds to try a service that has never answered: its address is probably wrong. */
const FIRST_PATIENCE = 10;
const LONGEST_PAUSE = 5;

export interface Settings {
  /** The service; PRESSROOM_URL or http://127.0.0.1:8000 by default. */
  url?: string;
  /** PRESSROOM_API_KEY by default. */
  apiKey?: string;
  /** Seconds for which a request is repeated while the service restarts or asks for a pause; 120 by default. */
  patience?: number;
  /** Sends the requests, in place of the global `fetch`. */
  fetch?: typeof fetch;
}

export class Transport {
  readonly url: string;
  readonly #apiKey: string;
  readonly #patience: number;
  readonly #fetch: typeof fetch;
  #hasAnswered = false;

  constructor(settings: Settings) {
    const environment = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {};
    this.url = (settings.url ?? environment["PRESSROOM_URL"] ?? "http://127.0.0.1:8000").replace(/\/+$/, "");
    const key = settings.apiKey ?? environment["PRESSROOM_API_KEY"];
    if (!key) {
      const message = "Which API key? Pass apiKey, or set PRESSROOM_API_KEY; `pressroom keys create` makes one.";
      throw new PressroomError(message, "no_api_key", { address: this.url });
    }
    this.#apiKey = key.trim();
    this.#patience = settings.patience ?? 120;
    this.#fetch = settings.fetch ?? ((input, init) => fetch(input, init));
  }

  /** Return an answer of status 200 to 299. Throws PressroomError, and the signal's reason when it is aborted.
   * `make` makes the request anew for each try: a clone would hold an uploaded file in memory. */
  async send(make: () => Request): Promise<Response> {
    const began = Date.now();
    for (let number = 0; ; number++) {
      const request = make();
      const address = `${request.method} ${request.url}`;
      const isRepeatable = request.method !== "POST" || request.headers.has("Idempotency-Key");
      request.headers.set("X-API-Key", this.#apiKey);
      const failure = await this.#try(request, address);
      if (failure instanceof Response) return failure;
      const undone = failure.status !== undefined && UNDONE.includes(failure.status) && !PERHAPS_DONE.includes(failure.code);
      const temporary = failure.status === undefined || TEMPORARY.includes(failure.status);
      const pause = (failure.retryAfter ?? 0) + Math.random() * Math.min(LONGEST_PAUSE, 0.2 * 2 ** Math.min(number, 10));
      const patience = this.#hasAnswered ? this.#patience : Math.min(this.#patience, FIRST_PATIENCE);
      if (!(undone || (isRepeatable && temporary)) || Date.now() + pause * 1_000 > began + patience * 1_000) throw failure;
      await sleep(pause, request.signal);
    }
  }

  async #try(request: Request, address: string): Promise<Response | PressroomError> {
    let response: Response;
    try {
      // A redirect to another host would carry the key there.
      response = await this.#fetch(request, { redirect: "manual" });
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason;
      const remedy = this.#hasAnswered ? "Try again." : "Start it with `pressroom up`, or name another by `url` or PRESSROOM_URL.";
      return lost(error, address, `The service can't be reached`, remedy);
    }
    if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
      throw notPressroom(address, response.status);
    }
    this.#hasAnswered = true;
    const ignored = response.headers.get("X-Ignored-Fields");
    if (ignored) console.warn(`These fields have no effect on ${address}: ${ignored}.`);
    return response.ok ? response : refusal(response, address);
  }
}

/** Return the error for a connection that broke off. */
export function lost(error: unknown, address: string, what: string, remedy: string): PressroomError {
  const { message, cause } = error as Error & { cause?: Error };
  return new PressroomError(`${what}: ${cause?.message || message}. ${remedy}`, "connection_lost", { address });
}

/** Pause for some seconds. Throws the signal's reason when it is aborted. */
export async function sleep(seconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = () => (clearTimeout(timer), reject(signal?.reason));
    const timer = setTimeout(() => (signal?.removeEventListener("abort", stop), resolve()), seconds * 1_000);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
