// Personas and skills: named texts that people write once and use in many projects.

import { useEffect, useState } from "preact/hooks";

import type { Note } from "../host/contract";
import type { Collection } from "../host/http";
import { sentence } from "../host/http";
import { Confirm } from "../parts/Dialog";
import { attempt, documents, isOwner, toast } from "../state";
import { FromFile } from "./FileNotes";

interface NotesSectionProps {
  notes: Collection<Note>;
  one: string;
  about: string;
}

const BLANK = { name: "", text: "" };

export function NotesSection({ notes, one, about }: NotesSectionProps) {
  const [list, setList] = useState<Note[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [editing, setEditing] = useState<string | null>(null);
  const [removing, setRemoving] = useState<Note | null>(null);
  const load = (): void => {
    notes.list().then(setList, (problem: unknown) => setError(sentence(problem)));
  };
  useEffect(load, [documents.value]);
  const save = async (id: string | null, value: { name: string; text: string }): Promise<void> => {
    await attempt(async () => {
      await (id === null ? notes.add(value) : notes.change(id, value));
      setEditing(null);
      toast("info", `Saved: ${value.name}`);
      load();
    });
  };
  return (
    <section>
      <p class="muted">{about}</p>
      {error !== null && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      {list !== null && list.length === 0 && editing === null && <p class="empty">There is no {one} yet.</p>}
      <ul class="cards">
        {(list ?? []).map((note) => (
          <li key={note.id} class="card">
            {editing === note.id ? (
              <NoteForm value={note} onSave={(value) => save(note.id, value)} onCancel={() => setEditing(null)} />
            ) : (
              <>
                <h2>{note.name}</h2>
                <p class="clamp">{note.text}</p>
                <FromFile source={note.source} />
                {isOwner.value && note.source === undefined && (
                  <div class="buttons">
                    <button type="button" onClick={() => setEditing(note.id)}>
                      Edit
                    </button>
                    <button type="button" class="quiet" aria-label={`Delete ${note.name}`} onClick={() => setRemoving(note)}>
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
        <div class="card">
          <NoteForm value={BLANK} onSave={(value) => save(null, value)} onCancel={() => setEditing(null)} />
        </div>
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
          text={`Projects that use this ${one} go on without it.`}
          action="Delete"
          onClose={() => setRemoving(null)}
          onConfirm={() =>
            void attempt(async () => {
              await notes.remove(removing.id);
              load();
            })
          }
        />
      )}
    </section>
  );
}

interface NoteFormProps {
  value: { name: string; text: string };
  onSave: (value: { name: string; text: string }) => Promise<void>;
  onCancel: () => void;
}

function NoteForm({ value, onSave, onCancel }: NoteFormProps) {
  const [name, setName] = useState(value.name);
  const [text, setText] = useState(value.text);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void onSave({ name: name.trim(), text });
      }}
    >
      <label>
        Name
        <input type="text" required maxLength={100} value={name} autoFocus onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <label>
        Text
        <textarea rows={10} required value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <div class="buttons">
        <button type="submit" class="primary">
          Save
        </button>
        <button type="button" class="quiet" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
