// Personas and skills: named texts that people write once and use in many projects.

import { useEffect, useState } from "preact/hooks";

import type { Note } from "../host/contract";
import type { Collection } from "../host/http";
import { sentence } from "../host/http";
import { documents } from "../state";
import type { FormProps } from "./DocumentCards";
import { DocumentCards } from "./DocumentCards";

interface NotesSectionProps {
  notes: Collection<Note>;
  one: string;
  about: string;
}

type NoteDraft = Omit<Note, "id" | "source">;

const BLANK: NoteDraft = { name: "", text: "" };

export function NotesSection({ notes, one, about }: NotesSectionProps) {
  const [list, setList] = useState<Note[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  const load = (): void => {
    notes.list().then(setList, (problem: unknown) => setError(sentence(problem)));
  };
  useEffect(load, [documents.value]);
  return (
    <section>
      <p class="muted">{about}</p>
      {error !== null && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      <DocumentCards
        list={list}
        one={one}
        empty={`There is no ${one} yet.`}
        farewell={`Projects that use this ${one} go on without it.`}
        show={(note) => (
          <>
            <h2>{note.name}</h2>
            <p class="clamp">{note.text}</p>
          </>
        )}
        form={(note, props: FormProps<NoteDraft>) => <NoteForm value={note ?? BLANK} {...props} />}
        keep={(id, draft) => (id === null ? notes.add(draft) : notes.change(id, draft))}
        remove={notes.remove}
        reload={load}
      />
    </section>
  );
}

function NoteForm({ value, onSave, onCancel }: FormProps<NoteDraft> & { value: NoteDraft }) {
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
