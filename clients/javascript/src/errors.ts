/** Errors: refusals of the service, and answers that did not arrive. */

export interface ErrorFacts {
  /** HTTP status of the answer. */
  status?: number;
  /** What was asked: method and URL. */
  address?: string;
  /** The other fields of the answer, such as `credits_required`. */
  details?: Record<string, unknown>;
  /** By which an operator finds the request. */
  requestId?: string;
  /** Seconds to wait before the next try. */
  retryAfter?: number;
}

/** A request that failed. `code` never changes, so programs can match on it. */
export class PressroomError extends Error {
  override readonly name = "PressroomError";
  readonly status: number | undefined;
  readonly address: string | undefined;
  readonly details: Record<string, unknown>;
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;

  constructor(message: string, readonly code: string, facts: ErrorFacts = {}) {
    super(`${message} [${[code, facts.address].filter(Boolean).join(", ")}]`);
    this.status = facts.status;
    this.address = facts.address;
    this.details = facts.details ?? {};
    this.requestId = facts.requestId;
    this.retryAfter = facts.retryAfter;
  }
}

/** Return the error for an answer without success; `address` has its method and URL. */
export async function refusal(response: Response, address: string): Promise<PressroomError> {
  const text = await response.text().catch(() => "");
  let told: Record<string, unknown>;
  try {
    told = JSON.parse(text);
    if (typeof told !== "object" || told === null) throw new TypeError();
  } catch {
    told = { message: `The server answered ${response.status}: ${text.slice(0, 200)}`, code: "refused" };
  }
  // Routes in OpenAI's form have an object in `error`.
  const inner = typeof told["error"] === "object" && told["error"] !== null ? { ...told, error: undefined, ...told["error"] } : told;
  const { error, message, code, request_id, ...details } = inner as Record<string, unknown>;
  const seconds = Number(response.headers.get("Retry-After") ?? NaN);
  return new PressroomError(String(message ?? error ?? response.status), String(code ?? "refused"), {
    status: response.status,
    address,
    details,
    ...(typeof request_id === "string" && { requestId: request_id }),
    ...(Number.isFinite(seconds) && { retryAfter: seconds }),
  });
}

/** Return the error for an answer that Pressroom would not give. */
export function notPressroom(address: string, status: number): PressroomError {
  const message = "The server at that address is not Pressroom. Name the service by `url` or PRESSROOM_URL.";
  return new PressroomError(message, "not_pressroom", { address, status });
}
