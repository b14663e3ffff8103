// Where a person writes: text, files, pictures, commands and mentions.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";

import type { Upload } from "../host/http";
import { attempt } from "../state";
import { complete, mentionAt } from "../text/mention";
import { readFiles } from "./attachments";
import { OfferList } from "./OfferList";
import { useCompletion } from "./useCompletion";

interface ComposerProps {
  /** The conversation, or null while it does not exist yet. */
  conversation: string | null;
  placeholder: string;
  known: { commands: string[]; agents: string[] };
  running: boolean;
  disabled?: boolean;
  suggestion?: string | null;
  onSend: (text: string, attachments: Upload[]) => void | Promise<void>;
  onStop?: () => void;
  /** Controls that stand below the text. */
  children?: ComponentChildren;
}

const draftKey = (conversation: string | null): string => `tillerman.draft.${conversation ?? "new"}`;

export function Composer(props: ComposerProps) {
  const { conversation, running, disabled = false, suggestion = null } = props;
  const [text, setText] = useState(() => localStorage.getItem(draftKey(conversation)) ?? "");
  const [caret, setCaret] = useState(0);
  const [files, setFiles] = useState<Upload[]>([]);
  const [chosen, setChosen] = useState(0);
  const [dismissed, setDismissed] = useState<string | null>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const listId = useId();

  const mention = disabled ? null : mentionAt(text, caret);
  const found = useCompletion(conversation, mention, props.known);
  const offers = mention === null || dismissed === text ? [] : found;
  const active = Math.min(chosen, Math.max(0, offers.length - 1));

  useEffect(() => {
    const key = draftKey(conversation);
    if (text === "") {
      localStorage.removeItem(key);
    } else {
      localStorage.setItem(key, text);
    }
  }, [conversation, text]);
  useEffect(() => grow(area.current), [text]);

  const add = (list: Iterable<File>): void => {
    const given = [...list];
    void attempt(async () => setFiles(await readFiles(given, files)));
  };
  const submit = (): void => {
    const trimmed = text.trim();
    if (disabled || (trimmed === "" && files.length === 0)) {
      return;
    }
    setText("");
    setFiles([]);
    void props.onSend(trimmed, files);
  };
  const accept = (index: number): void => {
    const offer = offers[index];
    if (mention === null || offer === undefined) {
      return;
    }
    const next = complete(text, mention, offer.value);
    setText(next.text);
    setCaret(next.caret);
    setChosen(0);
    requestAnimationFrame(() => {
      area.current?.focus();
      area.current?.setSelectionRange(next.caret, next.caret);
    });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) {
      return;
    }
    if (offers.length > 0 && handleOffers(event)) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (event.key === "Enter" && !event.shiftKey && !matchMedia("(pointer: coarse)").matches) {
      event.preventDefault();
      submit();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      submit();
    } else if (event.key === "Tab" && !event.shiftKey && text === "" && suggestion !== null) {
      event.preventDefault();
      setText(suggestion);
    }
  };
  const handleOffers = (event: KeyboardEvent): boolean => {
    switch (event.key) {
      case "ArrowDown":
        setChosen((active + 1) % offers.length);
        return true;
      case "ArrowUp":
        setChosen((active + offers.length - 1) % offers.length);
        return true;
      case "Enter":
      case "Tab":
        accept(active);
        return true;
      case "Escape":
        setDismissed(text);
        return true;
      default:
        return false;
    }
  };
  const onPaste = (event: ClipboardEvent): void => {
    const pasted = [...(event.clipboardData?.files ?? [])];
    if (pasted.length > 0) {
      event.preventDefault();
      add(pasted);
    }
  };
  const onDrop = (event: DragEvent): void => {
    const dropped = [...(event.dataTransfer?.files ?? [])];
    if (dropped.length > 0) {
      event.preventDefault();
      add(dropped);
    }
  };

  return (
    <form
      class="composer"
      aria-label="Message"
      onDragOver={(event) => event.preventDefault()}
      onDrop={onDrop}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {offers.length > 0 && <OfferList id={listId} offers={offers} active={active} onChoose={accept} />}
      <Files files={files} onRemove={(at) => setFiles(files.filter((_, index) => index !== at))} />
      <textarea
        ref={area}
        id="composer"
        rows={1}
        value={text}
        disabled={disabled}
        placeholder={suggestion === null ? props.placeholder : `${suggestion}   (Tab takes this)`}
        aria-label="Message to the agent"
        aria-autocomplete="list"
        aria-haspopup="listbox"
        {...(offers.length > 0 ? { "aria-controls": listId, "aria-activedescendant": `${listId}-${active}` } : {})}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setCaret(event.currentTarget.selectionStart);
          setChosen(0);
        }}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      <div class="composer-tools">
        <button type="button" class="quiet" disabled={disabled} aria-label="Attach files" title="Attach files" onClick={() => picker.current?.click()}>
          +
        </button>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files to attach"
          onChange={(event) => {
            add(event.currentTarget.files ?? []);
            event.currentTarget.value = "";
          }}
        />
        {props.children}
        <span class="grow" />
        {running && props.onStop !== undefined && (
          <button type="button" class="danger" onClick={props.onStop} data-testid="stop">
            Stop <kbd>Esc</kbd>
          </button>
        )}
        <button type="submit" class="primary" disabled={disabled || (text.trim() === "" && files.length === 0)} data-testid="send">
          {running ? "Queue" : "Send"}
        </button>
      </div>
    </form>
  );
}

function Files({ files, onRemove }: { files: Upload[]; onRemove: (index: number) => void }) {
  if (files.length === 0) {
    return null;
  }
  return (
    <ul class="attachments" aria-label="Attached files">
      {files.map((file, index) => (
        <li key={`${file.name}-${index}`}>
          {file.media_type.startsWith("image/") ? (
            <img src={`data:${file.media_type};base64,${file.data_base64}`} alt={file.name} />
          ) : (
            <span class="tag">{file.name}</span>
          )}
          <button type="button" class="quiet small" aria-label={`Remove ${file.name}`} onClick={() => onRemove(index)}>
            ✕
          </button>
        </li>
      ))}
    </ul>
  );
}

const TALLEST = 320;

function grow(area: HTMLTextAreaElement | null): void {
  if (area !== null) {
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight + 2, TALLEST)}px`;
  }
}
