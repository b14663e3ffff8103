// Agents: others whom the agents of a project can have a part of their work done by.

import { useEffect, useState } from "preact/hooks";

import type { Agent } from "../host/contract";
import { host, sentence } from "../host/http";
import { documents, info } from "../state";
import { labelled } from "../view/models";
import type { FormProps } from "./DocumentCards";
import { DocumentCards } from "./DocumentCards";

type AgentDraft = Omit<Agent, "id" | "source">;

const BLANK: AgentDraft = { name: "", description: "", prompt: "", tools: null, disallowed_tools: [], model: null };

export function AgentsSection() {
  const [list, setList] = useState<Agent[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  const load = (): void => {
    host.agents.list().then(setList, (problem: unknown) => setError(sentence(problem)));
  };
  useEffect(load, [documents.value]);
  return (
    <section>
      <p class="muted">An agent does a part of the work for another one, with a text and tools of its own. Projects choose whom their agents can call; agents of a repository's own files are there without that.</p>
      {error !== null && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      <DocumentCards
        list={list}
        one="agent"
        empty="There is no agent yet."
        farewell="Projects that name this agent go on without it."
        show={(agent) => (
          <>
            <h2>{agent.name}</h2>
            <p>{agent.description}</p>
            <p class="clamp muted">{agent.prompt}</p>
            <p class="muted small">{summary(agent)}</p>
          </>
        )}
        form={(agent, props: FormProps<AgentDraft>) => <AgentForm value={agent ?? BLANK} {...props} />}
        keep={(id, draft) => (id === null ? host.agents.add(draft) : host.agents.change(id, draft))}
        remove={host.agents.remove}
        reload={load}
      />
    </section>
  );
}

function summary(agent: Agent): string {
  const tools = agent.tools === null ? "all tools of its caller" : agent.tools.length === 0 ? "no tools" : agent.tools.join(", ");
  const without = agent.disallowed_tools.length === 0 ? "" : `without ${agent.disallowed_tools.join(", ")}`;
  return [tools, without, agent.model ?? ""].filter((part) => part !== "").join(" · ");
}

function AgentForm({ value, onSave, onCancel }: FormProps<AgentDraft> & { value: AgentDraft }) {
  const [name, setName] = useState(value.name);
  const [description, setDescription] = useState(value.description);
  const [prompt, setPrompt] = useState(value.prompt);
  const [tools, setTools] = useState((value.tools ?? []).join("\n"));
  const [without, setWithout] = useState(value.disallowed_tools.join("\n"));
  const [model, setModel] = useState(value.model ?? "");
  const lines = (text: string): string[] => text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const submit = (event: Event): void => {
    event.preventDefault();
    const named = lines(tools);
    void onSave({
      name: name.trim(),
      description: description.trim(),
      prompt,
      tools: named.length === 0 ? null : named,
      disallowed_tools: lines(without),
      model: model === "" ? null : model,
    });
  };
  return (
    <form class="stack" aria-label="Agent" onSubmit={submit}>
      <div class="columns">
        <label>
          Name, by which it is called
          <input type="text" required maxLength={64} pattern="[A-Za-z0-9_\-]+" title="Letters, digits, dashes and underscores" value={name} autoFocus onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <label>
          Model
          <select value={model} onChange={(event) => setModel(event.currentTarget.value)}>
            <option value="">As its caller</option>
            {labelled(info.value?.models ?? []).map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}
              </option>
            ))}
          </select>
        </label>
      </div>
      <label>
        When it is to be called
        <input type="text" required value={description} onInput={(event) => setDescription(event.currentTarget.value)} />
      </label>
      <label>
        What it is told
        <textarea rows={8} required value={prompt} onInput={(event) => setPrompt(event.currentTarget.value)} />
      </label>
      <div class="columns">
        <label>
          Its tools, one a line (empty: all of its caller)
          <textarea class="mono" spellcheck={false} rows={3} value={tools} onInput={(event) => setTools(event.currentTarget.value)} />
        </label>
        <label>
          Tools it does not have, one a line
          <textarea class="mono" spellcheck={false} rows={3} value={without} onInput={(event) => setWithout(event.currentTarget.value)} />
        </label>
      </div>
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
