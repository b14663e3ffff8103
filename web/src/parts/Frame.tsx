// What stands around every page: connection, messages, help, signing in.

import { useState } from "preact/hooks";

import { useNow } from "../clock";
import { helpOpen, KEYS } from "../keyboard";
import { connection, dismiss, pending, retryAt, socket, spoken, start, startError, toasts } from "../state";
import { Dialog } from "./Dialog";
import { sidebarOpen } from "./Sidebar";

/** Says when the host is not there; silent while everything works. */
export function ConnectionBar() {
  const waiting = connection.value === "waiting";
  const now = useNow(waiting);
  if (!waiting) {
    return null;
  }
  const seconds = Math.max(0, Math.ceil(((retryAt.value ?? now) - now) / 1000));
  return (
    <div class="connection" role="status" data-testid="connection">
      <span>
        The connection to the host is lost. {seconds > 0 ? `Trying again in ${seconds} s.` : "Trying again."} What you see is kept; nothing is lost.
      </span>
      <button type="button" onClick={() => socket.hurry()}>
        Try now
      </button>
    </div>
  );
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <div key={toast.id} class={`toast ${toast.level}`} data-testid="toast">
          <span>{toast.text}</span>
          <button type="button" class="quiet small" aria-label="Dismiss" onClick={() => dismiss(toast.id)}>
            ✕
          </button>
        </div>
      ))}
    </div>
  );
}

/** What a screen reader says as it happens; nobody sees it. */
export function LiveRegion() {
  return (
    <div class="hidden" role="status" aria-live="assertive" aria-atomic="true">
      {spoken.value}
    </div>
  );
}

export function TopBar() {
  return (
    <div class="topbar">
      <button
        type="button"
        class="quiet"
        aria-label="Conversations"
        aria-expanded={sidebarOpen.value}
        aria-controls="sidebar"
        onClick={() => {
          sidebarOpen.value = !sidebarOpen.value;
        }}
      >
        ☰
      </button>
      <span class="brand">Tillerman</span>
      <span class="grow" />
      {pending.value.length > 0 && (
        <a class="badge" href="#/approvals" aria-label={`${pending.value.length} approvals wait`}>
          {pending.value.length}
        </a>
      )}
    </div>
  );
}

export function Help() {
  if (!helpOpen.value) {
    return null;
  }
  return (
    <Dialog
      title="Keys"
      onClose={() => {
        helpOpen.value = false;
      }}
    >
      <dl class="keys">
        {KEYS.map(([keys, does]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

/** Asks for the token that the host printed when it started. */
export function SignIn() {
  const [token, setToken] = useState("");
  return (
    <main class="page sign-in" id="main">
      <h1>Sign in</h1>
      <p>
        This host wants its token. It was printed with the address when <code>tillerman serve</code> started; open that address again, or paste
        the token here.
      </p>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          // People paste the whole address as often as the token.
          const value = /[?&]token=([^&\s]+)/.exec(token)?.[1] ?? encodeURIComponent(token.trim());
          location.assign(`/?token=${value}`);
        }}
      >
        <label>
          Token
          <input type="password" autocomplete="off" required value={token} onInput={(event) => setToken(event.currentTarget.value)} />
        </label>
        <div class="buttons">
          <button type="submit" class="primary">
            Sign in
          </button>
        </div>
      </form>
    </main>
  );
}

export function StartFailed() {
  return (
    <main class="page" id="main">
      <div class="empty" role="alert">
        <h1>The host does not answer</h1>
        <p>{startError.value}</p>
        <button type="button" class="primary" onClick={() => void start()}>
          Try again
        </button>
      </div>
    </main>
  );
}
