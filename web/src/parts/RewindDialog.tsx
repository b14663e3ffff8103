// Goes back to a message: shows first which files would change.

import { useEffect, useState } from "preact/hooks";

import type { RewindAnswer } from "../host/contract";
import { host, sentence } from "../host/http";
import { toast } from "../state";
import { plural } from "../text/format";
import { visible } from "../text/visible";
import { Dialog } from "./Dialog";

interface RewindDialogProps {
  conversation: string;
  message: string;
  onClose: () => void;
}

export function RewindDialog({ conversation, message, onClose }: RewindDialogProps) {
  const [preview, setPreview] = useState<RewindAnswer | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [talk, setTalk] = useState(false);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    host.rewind(conversation, { message_id: message, dry_run: true }).then(setPreview, (problem: unknown) => setError(sentence(problem)));
  }, [conversation, message]);
  const rewind = async (): Promise<void> => {
    setBusy(true);
    try {
      const done = await host.rewind(conversation, { message_id: message, dry_run: false, conversation: talk });
      if (done.can_rewind) {
        toast("info", `${plural(done.files.length, "file")} put back to how it was before that message.`);
        onClose();
      } else {
        setError(done.error ?? "This message cannot be rewound to.");
      }
    } catch (problem) {
      setError(sentence(problem));
    }
    setBusy(false);
  };
  const possible = preview !== null && preview.can_rewind;
  return (
    <Dialog title="Rewind to this message" onClose={onClose}>
      {preview === null && error === null && <p>Looking at what would change…</p>}
      {(error ?? (preview !== null && !preview.can_rewind ? (preview.error ?? "There is no checkpoint of this message.") : null)) !== null && (
        <p class="error" role="alert">
          {error ?? preview?.error ?? "There is no checkpoint of this message."}
        </p>
      )}
      {possible && (
        <>
          <p>
            {preview.files.length === 0
              ? "No file differs from how it was before this message."
              : `${plural(preview.files.length, "file")} would be put back: ${preview.insertions} lines added, ${preview.deletions} removed.`}
          </p>
          {preview.files.length > 0 && (
            <ul class="file-list" data-testid="rewind-files">
              {preview.files.map((file) => {
                const path = typeof file === "string" ? file : file.path;
                return (
                  <li key={path}>
                    <code>{visible(path)}</code>
                  </li>
                );
              })}
            </ul>
          )}
          <label class="choice">
            <input type="checkbox" checked={talk} onChange={() => setTalk(!talk)} />
            <span>Also forget the conversation from this message on</span>
          </label>
        </>
      )}
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="danger" disabled={!possible || busy} onClick={() => void rewind()}>
          Rewind
        </button>
      </div>
    </Dialog>
  );
}
