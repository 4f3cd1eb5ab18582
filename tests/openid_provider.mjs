// A certified OpenID provider with its own pages for signing in: any name does, and has an
// address at example.com, or is one, which is verified but for the liar's. Arguments: the folder with node_modules, the client's redirect URI. Prints its port.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, redirect] = process.argv.slice(2);
const main = createRequire(`${folder}/`).resolve("oidc-provider");
const { default: Provider } = await import(pathToFileURL(main));
const claims = (sub) => ({ sub, email: sub.includes("@") ? sub : `${sub}@example.com`, email_verified: sub !== "liar" });
const server = createServer().listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const { port } = server.address();
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id: "pressroom", client_secret: "a secret: of % the client", redirect_uris: [redirect] }],
  claims: { openid: ["sub"], email: ["email", "email_verified"] },
  pkce: { required: () => true },
  findAccount: (_, sub) => ({ accountId: sub, claims: () => claims(sub) }),
});
server.on("request", provider.callback());
console.log(port);
