// The page: starts, connects, and shows what the address says.

import { effect } from "@preact/signals";
import { render } from "preact";

import "./style/base.css";
import "./style/layout.css";
import "./style/thread.css";
import "./style/cards.css";

import { listen } from "./keyboard";
import { ApprovalsPage } from "./pages/ApprovalsPage";
import { ConversationPage } from "./pages/ConversationPage";
import { HomePage } from "./pages/HomePage";
import { SettingsPage } from "./pages/SettingsPage";
import { UsagePage } from "./pages/UsagePage";
import { ConnectionBar, Help, LiveRegion, SignIn, StartFailed, Toasts, TopBar } from "./parts/Frame";
import { Sidebar, sidebarOpen } from "./parts/Sidebar";
import { route } from "./route";
import { connection, conversations, info, pending, socket, start, startError } from "./state";

function App() {
  if (connection.value === "unauthorized") {
    return <SignIn />;
  }
  if (startError.value !== null && info.value === null) {
    return <StartFailed />;
  }
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        To the content
      </a>
      <TopBar />
      <div class="shell">
        <Sidebar />
        {sidebarOpen.value && <div class="scrim" onClick={closeSidebar} aria-hidden="true" />}
        <div class="content">
          <ConnectionBar />
          <Page />
        </div>
      </div>
      <Toasts />
      <LiveRegion />
      <Help />
    </>
  );
}

function Page() {
  const here = route.value;
  switch (here.page) {
    case "conversation":
      return <ConversationPage id={here.id} />;
    case "approvals":
      return <ApprovalsPage />;
    case "usage":
      return <UsagePage />;
    case "settings":
      return <SettingsPage section={here.section} />;
    default:
      return <HomePage />;
  }
}

function skip(event: Event): void {
  event.preventDefault();
  const main = document.getElementById("main");
  main?.setAttribute("tabindex", "-1");
  main?.focus();
}

function closeSidebar(): void {
  sidebarOpen.value = false;
}

effect(() => {
  const here = route.value;
  const name = here.page === "conversation" ? (conversations.value.get(here.id)?.title ?? "") : here.page;
  const waiting = pending.value.length > 0 ? `(${pending.value.length}) ` : "";
  document.title = `${waiting}${name === "" || name === "home" ? "" : `${name} · `}Tillerman`;
});

function wake(): void {
  if (document.visibilityState === "visible" && info.value !== null && connection.value !== "unauthorized") {
    socket.hurry();
  }
}
addEventListener("online", wake);
document.addEventListener("visibilitychange", wake);
listen();
void start();

const root = document.getElementById("app");
if (root !== null) {
  render(<App />, root);
}
