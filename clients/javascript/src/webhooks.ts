/** Webhooks: checks that an event comes from the service. */

import { PressroomError } from "./errors.js";
import type { components } from "./schema.js";

/** Seconds between the clocks of service and receiver; an older event may be one that somebody repeats. */
const TOLERANCE = 300;
/** 32 bytes in base64: `atob` throws at less. */
const SIGNATURE = /^[A-Za-z0-9+/]{43}=$/;

export interface WebhookEvent {
  type: string;
  timestamp: string;
  /** The job as in `GET /jobs/{id}`, with `items` in place of `progress`; other events have other fields. */
  data: Omit<components["schemas"]["Job"], "progress"> & Record<string, unknown>;
}

/** Return an event. `body` is the request's body as it arrived. Throws PressroomError, code `webhook_invalid`. */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: Headers | Record<string, string | string[] | undefined>,
  secret: string,
): Promise<WebhookEvent> {
  const invalid = (message: string) => new PressroomError(message, "webhook_invalid");
  const named = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const sent = new Headers(named.map(([name, value]): [string, string] => [name, String(value ?? "")]));
  const [id, moment, signatures] = ["id", "timestamp", "signature"].map((name) => sent.get(`webhook-${name}`));
  if (!id || !moment || !signatures) throw invalid("A webhook header is missing.");
  if (!(Math.abs(Date.now() / 1_000 - Number(moment)) <= TOLERANCE)) {
    throw invalid(`The event is over ${TOLERANCE} seconds old, or this machine's clock is wrong.`);
  }
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  const signed = new TextEncoder().encode(`${id}.${moment}.${text}`);
  let key: CryptoKey;
  try {
    const bytes = Uint8Array.from(atob(secret.replace(/^whsec_/, "")), (letter) => letter.charCodeAt(0));
    key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  } catch {
    throw invalid("The secret is malformed; it begins with whsec_.");
  }
  // While a secret changes, an event has two signatures. `verify` takes the same time for each wrong one.
  for (const [version, signature] of signatures.split(" ").map((one) => one.split(","))) {
    if (version !== "v1" || !signature || !SIGNATURE.test(signature)) continue;
    const bytes = Uint8Array.from(atob(signature), (letter) => letter.charCodeAt(0));
    if (await crypto.subtle.verify("HMAC", key, bytes, signed)) return JSON.parse(text);
  }
  throw invalid("No signature fits: check that the secret is this webhook's, and the body unchanged.");
}
