// Documents of one kind as cards that owners add, change and remove; what is from a file is changed there.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { Confirm } from "../parts/Dialog";
import { attempt, isOwner, toast } from "../state";
import { FromFile } from "./FileNotes";

interface Document {
  id: string;
  name: string;
  source?: string;
}

/** What a form of a document is given. */
export interface FormProps<D> {
  onSave: (draft: D) => Promise<void>;
  onCancel: () => void;
}

interface DocumentCardsProps<T extends Document, D extends { name: string }> {
  /** Nothing while it is still loading. */
  list: T[] | null;
  /** What one of them is called. */
  one: string;
  empty: string;
  /** What becomes of others when one is deleted. */
  farewell: string;
  show: (document: T) => ComponentChildren;
  /** The form of a document, or of a new one. */
  form: (document: T | null, props: FormProps<D>) => ComponentChildren;
  /** Whether a document from a file can be looked at in its form. */
  opensFiles?: boolean;
  /** Keeps a document, or a new one. */
  keep: (id: string | null, draft: D) => Promise<unknown>;
  remove: (id: string) => Promise<unknown>;
  /** Has the list loaded again. */
  reload: () => void;
}

export function DocumentCards<T extends Document, D extends { name: string }>(props: DocumentCardsProps<T, D>) {
  const { list, one, empty, farewell, show, form, opensFiles = false, keep, remove, reload } = props;
  const [editing, setEditing] = useState<string | null>(null);
  const [removing, setRemoving] = useState<T | null>(null);
  const save = async (id: string | null, draft: D): Promise<void> => {
    await attempt(async () => {
      await keep(id, draft);
      setEditing(null);
      toast("info", `Saved: ${draft.name}`);
      reload();
    });
  };
  const formOf = (document: T | null): ComponentChildren =>
    form(document, { onSave: (draft) => save(document?.id ?? null, draft), onCancel: () => setEditing(null) });
  return (
    <>
      {list !== null && list.length === 0 && editing === null && <p class="empty">{empty}</p>}
      <ul class="cards">
        {(list ?? []).map((document) => (
          <li key={document.id} class="card">
            {editing === document.id ? (
              formOf(document)
            ) : (
              <>
                {show(document)}
                <FromFile source={document.source} />
                {document.source !== undefined && opensFiles && (
                  <div class="buttons">
                    <button type="button" aria-label={`Show ${document.name}`} onClick={() => setEditing(document.id)}>
                      Show
                    </button>
                  </div>
                )}
                {isOwner.value && document.source === undefined && (
                  <div class="buttons">
                    <button type="button" onClick={() => setEditing(document.id)}>
                      Edit
                    </button>
                    <button type="button" class="quiet" aria-label={`Delete ${document.name}`} onClick={() => setRemoving(document)}>
                      Delete…
                    </button>
                  </div>
                )}
              </>
            )}
          </li>
        ))}
      </ul>
      {editing === "" ? (
        <div class="card">{formOf(null)}</div>
      ) : (
        isOwner.value && (
          <button type="button" class="primary" onClick={() => setEditing("")}>
            New {one}
          </button>
        )
      )}
      {removing !== null && (
        <Confirm
          title={`Delete ${removing.name}?`}
          text={farewell}
          action="Delete"
          onClose={() => setRemoving(null)}
          onConfirm={() =>
            void attempt(async () => {
              await remove(removing.id);
              reload();
            })
          }
        />
      )}
    </>
  );
}
