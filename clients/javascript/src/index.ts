/** The JavaScript client of Pressroom. */

export { Pressroom } from "./client.js";
export type { AltText, BlogPost, Fields, Job, Options, Route, Sound, Transcript } from "./client.js";
export { PressroomError } from "./errors.js";
export type { components, operations, paths } from "./schema.js";
export type { Settings } from "./transport.js";
export { verifyWebhook } from "./webhooks.js";
export type { WebhookEvent } from "./webhooks.js";
