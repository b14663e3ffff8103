// One conversation: its thread, what waits, and where to write.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import type { Conversation } from "../host/contract";
import { host } from "../host/http";
import type { Outgoing } from "../outbox";
import { clearArrived, discard, onItsWay, outbox, send, sendAgain } from "../outbox";
import { Composer } from "../parts/Composer";
import { Header } from "../parts/Header";
import { Inspector, inspectorOpen, makeRoom } from "../parts/Inspector";
import { ModePicker, ModelPicker } from "../parts/Pickers";
import { Queue } from "../parts/Queue";
import { RewindDialog } from "../parts/RewindDialog";
import { Thread } from "../parts/Thread";
import { addressOf } from "../route";
import { attempt, caughtUp, conversations, follow, info, isOwner, mayAnswer, putConversation, say, views } from "../state";
import { focusNextApproval } from "../keyboard";
import { isOver, pendingApprovals } from "../view/select";
import type { View } from "../view/view";
import { MAIN, emptyView } from "../view/view";

const NOTHING = emptyView();

export function ConversationPage({ id }: { id: string }) {
  const [missing, setMissing] = useState<string | null>(null);
  const conversation = conversations.value.get(id);
  // Before anything is drawn, so that nothing of what is about to be said is missed.
  useLayoutEffect(() => follow(id), [id]);
  useLayoutEffect(makeRoom, [id]);
  useEffect(() => {
    setMissing(null);
    host.conversation(id).then(putConversation, (error: unknown) => setMissing(error instanceof Error ? error.message : String(error)));
  }, [id]);
  const known = useRef<string | null>(null);
  if (conversation !== undefined) {
    known.current = id;
  }
  const gone = conversation === undefined && known.current === id ? "It was deleted just now, here or on another device." : missing;
  if (conversation === undefined) {
    return (
      <main class="page" id="main">
        {gone === null ? (
          <p class="muted">Loading…</p>
        ) : (
          <div class="empty">
            <h1>This conversation is not here</h1>
            <p>{gone}</p>
            <p>
              <a href={addressOf.home}>Begin a new one</a>, or choose one from the list.
            </p>
          </div>
        )}
      </main>
    );
  }
  return <Open conversation={conversation} view={views.value.get(id) ?? NOTHING} />;
}

function Open({ conversation, view }: { conversation: Conversation; view: View }) {
  const id = conversation.id;
  const [rewindTo, setRewindTo] = useState<string | null>(null);
  const scroll = useStickToEnd(view, id);
  const sending = onItsWay(outbox.value, id, view);
  const running = !isOver(view) || conversation.state === "running" || conversation.state === "waiting";
  const ready = caughtUp.value.has(id);
  useEffect(() => clearArrived(id, view), [id, view]);
  useSpokenAnswer(view, ready);
  const change = (patch: Parameters<typeof host.change>[1]): void =>
    void attempt(async () => putConversation(await host.change(id, patch)));
  return (
    <div class={`conversation ${inspectorOpen.value ? "with-inspector" : ""}`}>
      <main id="main" class="talk">
        <Header conversation={conversation} view={view} />
        <div class="thread" ref={scroll.element} onScroll={scroll.onScroll} tabIndex={0} role="log" aria-live="off" aria-label="Conversation">
          {!ready && view.last_seq === 0 && <p class="muted pad">Loading the conversation…</p>}
          {ready && (view.threads.get(MAIN)?.length ?? 0) === 0 && sending.length === 0 && (
            <p class="muted pad">Nothing was said yet. Write below; the agent works in {conversation.cwd}.</p>
          )}
          <Thread conversation={id} view={view} thread={MAIN} {...(isOwner.value ? { onRewind: setRewindTo } : {})} />
          {sending.map((message) => (
            <Sending key={message.client_id} message={message} />
          ))}
          <Activity view={view} running={running} />
        </div>
        {!scroll.atEnd && (
          <button type="button" class="to-end" onClick={scroll.toEnd}>
            ↓ Newest
          </button>
        )}
        <Waiting view={view} />
        <Queue conversation={id} view={view} />
        <Composer
          key={id}
          conversation={id}
          placeholder={!isOwner.value ? "Only the owner writes here" : running ? "Write more; it goes to the run or waits in the queue" : "Write to the agent   / for commands, @ for agents and files"}
          known={{ commands: view.commands, agents: view.agents }}
          running={running}
          disabled={!isOwner.value}
          suggestion={view.suggestion}
          onSend={(text, attachments) => {
            scroll.toEnd();
            return send(id, text, attachments);
          }}
          {...(mayAnswer.value ? { onStop: () => void attempt(() => host.interrupt(id)) } : {})}
        >
          <ModelPicker value={conversation.model ?? view.model ?? info.value?.model ?? ""} disabled={!isOwner.value} onChange={(model) => change({ model })} />
          <ModePicker value={conversation.permission_mode} disabled={!isOwner.value} onChange={(permission_mode) => change({ permission_mode })} />
        </Composer>
      </main>
      {inspectorOpen.value && <Inspector conversation={conversation} view={view} />}
      {rewindTo !== null && <RewindDialog conversation={id} message={rewindTo} onClose={() => setRewindTo(null)} />}
    </div>
  );
}

function Sending({ message }: { message: Outgoing }) {
  return (
    <article class={`prompt sending ${message.error === null ? "" : "unsent"}`} aria-label="Message on its way">
      <div class="prompt-text">{message.text}</div>
      {message.error === null ? (
        <p class="muted small">Sending…</p>
      ) : (
        <div role="alert">
          <p class="error small">Not sent: {message.error}</p>
          <div class="buttons">
            <button type="button" onClick={() => void sendAgain(message)}>
              Try again
            </button>
            <button type="button" class="quiet" onClick={() => discard(message.client_id)}>
              Discard
            </button>
          </div>
        </div>
      )}
    </article>
  );
}

function Activity({ view, running }: { view: View; running: boolean }) {
  if (!running || pendingApprovals(view).length > 0) {
    return null;
  }
  const writing = view.live.get(MAIN);
  const text = view.activity ?? (writing === undefined ? "Working" : "Writing");
  return (
    <p class="activity muted small" data-testid="activity">
      <span class="pulse" aria-hidden="true" /> {text}…
    </p>
  );
}

function Waiting({ view }: { view: View }) {
  const open = pendingApprovals(view);
  if (open.length === 0) {
    return null;
  }
  return (
    <button type="button" class="waiting-bar" onClick={focusNextApproval} data-testid="waiting">
      {open.length === 1 ? "One question waits for your answer" : `${open.length} questions wait for your answers`} <kbd>Alt+A</kbd>
    </button>
  );
}

const SPOKEN_CHARACTERS = 400;

/** Tells a screen reader the answer when a round ends, instead of every word as it comes. */
function useSpokenAnswer(view: View, ready: boolean): void {
  const before = useRef(view.run.state);
  useEffect(() => {
    if (ready && before.current === "running" && view.run.state === "idle") {
      const last = (view.threads.get(MAIN) ?? []).map((key) => view.items.get(key)).findLast((item) => item?.type === "text");
      say(last?.type === "text" ? last.text.slice(0, SPOKEN_CHARACTERS) : "Done");
    }
    before.current = view.run.state;
  }, [view.run.state, ready]);
}

const NEAR_PX = 80;

/** Keeps the newest in sight, unless the person has scrolled away to read. */
function useStickToEnd(view: View, id: string) {
  const element = useRef<HTMLDivElement>(null);
  const stick = useRef(true);
  const [atEnd, setAtEnd] = useState(true);
  const toEnd = (): void => {
    stick.current = true;
    setAtEnd(true);
    element.current?.scrollTo({ top: element.current.scrollHeight });
  };
  useLayoutEffect(() => {
    stick.current = true;
  }, [id]);
  useLayoutEffect(() => {
    if (stick.current) {
      element.current?.scrollTo({ top: element.current.scrollHeight });
    }
  }, [view, id]);
  const onScroll = (): void => {
    const box = element.current;
    if (box !== null) {
      stick.current = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX;
      setAtEnd(stick.current);
    }
  };
  return { element, atEnd, toEnd, onScroll };
}
