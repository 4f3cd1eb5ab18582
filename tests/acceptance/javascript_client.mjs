// What the JavaScript client does with a system, and with servers that are none. BASE and KEY name the system.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { Pressroom, PressroomError, verifyWebhook } from "pressroom-client";

const settings = { url: process.env.BASE, apiKey: process.env.KEY };
const client = new Pressroom(settings);
const refused = async (asked) => {
  const error = await asked.then(() => assert.fail("not refused"), (error) => error);
  assert(error instanceof PressroomError, String(error));
  return error;
};
const serve = async (answer) => {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => (server.closeAllConnections(), server.close()) };
};

// Both module systems have the same class.
assert.equal(createRequire(import.meta.url)("pressroom-client").Pressroom.name, "Pressroom");

// One key is one job, before and after its end; events end with it.
const options = { idempotencyKey: "javascript" };
const job = await client.submit("/tts/batch", { text: "One." }, options);
const seen = [];
for await (const one of client.events(job.id)) seen.push(one.state);
assert.equal(seen.at(-1), "succeeded");
assert.equal((await client.submit("/tts/batch", { text: "One." }, options)).id, job.id);
assert((await (await client.result(job.id)).arrayBuffer()).byteLength > 1_000);

// A field of another type is refused; an aborted wait ends at once.
const invalid = await refused(client.submit("/tts", { text: 3 }));
assert.deepEqual([invalid.code, invalid.status, invalid.details.details[0].field], ["invalid_request", 400, "text"]);
assert.equal(invalid.address, `POST ${settings.url}/tts`);
const long = await client.submit("/tts/batch", { text: "This is a long text. ".repeat(900) });
await assert.rejects(client.wait(long.id, { signal: AbortSignal.timeout(200) }), { name: "TimeoutError" });
assert.equal((await client.cancel(long.id)).state, "cancelled");

// A wrong key, nobody there, another server, a redirect that must not get the key, and a stream that breaks off.
assert.equal((await refused(new Pressroom({ ...settings, apiKey: "pr_live_wrong" }).api.GET("/usage"))).code, "unauthorized");
const gone = await serve(() => {});
gone.close();
const nobody = await refused(new Pressroom({ ...settings, url: gone.url, patience: 0.3 }).speak("Hello."));
assert.equal(nobody.code, "connection_lost");
assert.match(nobody.message, new RegExp(`pressroom up.*${gone.url}/tts`));
const asked = [];
const other = await serve((request, response) => (asked.push(request.headers), response.end("<h1>Hello</h1>")));
const moved = await serve((_, response) => response.writeHead(302, { Location: other.url }).end());
assert.equal((await refused(new Pressroom({ ...settings, url: moved.url }).speak("Hello."))).code, "not_pressroom");
assert.equal(asked.length, 0);
assert.equal((await refused(new Pressroom({ ...settings, url: other.url }).job(job.id))).code, "not_pressroom");
const broken = await serve((_, response) => (response.write("some sound"), setTimeout(() => response.destroy(), 50)));
const stream = new Pressroom({ ...settings, url: broken.url }).streamSpeech("Hello.");
assert.equal(new TextDecoder().decode((await stream.next()).value), "some sound");
assert.equal((await refused(stream.next())).code, "connection_lost");
let tries = 0;
const busy = await serve((_, response) => (++tries < 3 ? response.writeHead(503, { "Retry-After": "0" }).end() : response.end("{}")));
await new Pressroom({ ...settings, url: busy.url }).api.GET("/usage");
assert.equal(tries, 3);
let orders = 0;
const openai = JSON.stringify({ error: { message: "The job goes on.", code: "restarting" } });
const restarting = await serve((_, response) => (orders++, response.writeHead(503).end(openai)));
const told = await refused(new Pressroom({ ...settings, url: restarting.url }).api.POST("/v1/audio/speech", { body: {} }));
assert.deepEqual([told.code, told.message.includes("The job goes on."), orders], ["restarting", true, 1]);
for (const server of [other, moved, broken, busy, restarting]) server.close();

// A webhook of the form that the documents show is verified; another body, secret or moment is not.
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const body = JSON.stringify({ type: "job.completed", timestamp: "2026-11-23T06:00:02.114Z", data: { id: job.id } });
const headers = (moment) => {
  const hmac = createHmac("sha256", Buffer.from(secret.slice(6), "base64")).update(`msg_1.${moment}.${body}`);
  return { "webhook-id": "msg_1", "webhook-timestamp": `${moment}`, "webhook-signature": `v1,A v1,a_b= v1,${hmac.digest("base64")}` };
};
const now = Math.floor(Date.now() / 1_000);
assert.equal((await verifyWebhook(body, headers(now), secret)).data.id, job.id);
assert.equal((await verifyWebhook(Buffer.from(body), new Headers(headers(now)), secret)).type, "job.completed");
for (const sent of [[`${body} `, headers(now), secret], [body, headers(now), "whsec_AAAA"], [body, headers(now - 400), secret], [body, {}, secret]]) {
  assert.equal((await refused(verifyWebhook(...sent))).code, "webhook_invalid");
}
