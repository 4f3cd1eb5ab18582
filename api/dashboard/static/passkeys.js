// Forms by which a passkey is made or proven:
//
//   <form data-passkey="create|get" data-options="/dashboard/…/options">    with a hidden field `credential`
//
// The server sends the options, with a challenge, and checks the answer. Without passkeys in the browser, the form says so.

import { messageOf, say } from "./live.js";

const CANCELLED = "No passkey was used. Try again, or choose another way.";

async function prove(form) {
  const body = new URLSearchParams(new FormData(form));
  const answer = await fetch(form.dataset.options, { method: "POST", body, headers: { Accept: "application/json" } });
  if (answer.redirected) return location.assign(answer.url);
  if (!answer.ok) return say(await messageOf(answer), "bad");
  const options = await answer.json();
  const credential = form.dataset.passkey === "create"
    ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
    : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
  form.elements.credential.value = JSON.stringify(credential);
  form.submit();
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  form.hidden = false;
  if (!window.PublicKeyCredential?.parseCreationOptionsFromJSON) {
    form.replaceChildren("This browser has no passkeys, or this page isn't on https or localhost.");
    continue;
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    prove(form).catch((error) => say(error.name === "NotAllowedError" ? CANCELLED : error.message, "bad"));
  });
}
