// The form of a project.

import { useState } from "preact/hooks";

import type { Agent, Note, Project } from "../host/contract";
import { info } from "../state";
import { labelled } from "../view/models";
import { DEFAULT_MODES, modeName } from "../view/modes";
import { FromFile } from "./FileNotes";

export type ProjectDraft = Omit<Project, "id" | "source">;

interface ProjectFormProps {
  project: Project | null;
  personas: Note[];
  skills: Note[];
  agents: Agent[];
  onSave: (draft: ProjectDraft) => Promise<void>;
  onCancel: () => void;
}

/** The fields as they are typed; lists are one entry a line. */
interface Typed {
  name: string;
  cwd: string;
  environment: string;
  guarded_paths: string;
  allowed_tools: string;
  disallowed_tools: string;
  permission_mode: string;
  model: string;
  max_budget_usd: string;
  daily_budget_usd: string;
  mcp_servers: string;
  additional_prompt: string;
}

export function ProjectForm({ project, personas, skills, agents, onSave, onCancel }: ProjectFormProps) {
  const [typed, setTyped] = useState(() => typedOf(project));
  const [personaIds, setPersonaIds] = useState(project?.persona_ids ?? []);
  const [skillIds, setSkillIds] = useState(project?.skill_ids ?? []);
  const [agentIds, setAgentIds] = useState(project?.agent_ids ?? []);
  const [error, setError] = useState<string | null>(null);
  const set = (name: keyof Typed, value: string): void => setTyped({ ...typed, [name]: value });
  const text = (name: keyof Typed, label: string, required = false) => (
    <label>
      {label}
      <input type="text" required={required} value={typed[name]} onInput={(event) => set(name, event.currentTarget.value)} />
    </label>
  );
  const area = (name: keyof Typed, label: string, rows: number) => (
    <label>
      {label}
      <textarea class="mono" spellcheck={false} rows={rows} value={typed[name]} onInput={(event) => set(name, event.currentTarget.value)} />
    </label>
  );
  const submit = (event: Event): void => {
    event.preventDefault();
    const draft = readTyped(typed);
    if (typeof draft === "string") {
      setError(draft);
    } else {
      setError(null);
      void onSave({ ...draft, persona_ids: personaIds, skill_ids: skillIds, agent_ids: agentIds });
    }
  };
  const fixed = project?.source !== undefined;
  return (
    <form class="stack" onSubmit={submit} aria-label="Project">
      <FromFile source={project?.source} />
      <fieldset class="stack" disabled={fixed}>
        <div class="columns">
          {text("name", "Name", true)}
          {text("cwd", "Working directory", true)}
          <label>
            Permission mode
            <select value={typed.permission_mode} onChange={(event) => set("permission_mode", event.currentTarget.value)}>
              {(info.value?.modes ?? DEFAULT_MODES).map((mode) => (
                <option key={mode} value={mode}>
                  {modeName(mode)}
                </option>
              ))}
            </select>
          </label>
          <label>
            Model
            <select value={typed.model} onChange={(event) => set("model", event.currentTarget.value)}>
              <option value="">The host's choice</option>
              {labelled(info.value?.models ?? []).map((model) => (
                <option key={model.id} value={model.id}>
                  {model.name}
                </option>
              ))}
            </select>
          </label>
          {text("max_budget_usd", "Budget of a run in dollars (empty: none)")}
          {text("daily_budget_usd", "Budget of a day in dollars (empty: none)")}
        </div>
        {area("additional_prompt", "Said to the agent in addition", 3)}
        <Choices title="Personas" notes={personas} chosen={personaIds} onChange={setPersonaIds} />
        <Choices title="Skills" notes={skills} chosen={skillIds} onChange={setSkillIds} />
        <Choices title="Agents it can call" notes={agents} chosen={agentIds} onChange={setAgentIds} />
        <div class="columns">
          {area("allowed_tools", "Allowed without a question, one rule a line", 3)}
          {area("disallowed_tools", "Never allowed, one rule a line", 3)}
          {area("guarded_paths", "Files that nothing may write, one a line", 3)}
          {area("environment", "Variables, NAME=value a line", 3)}
        </div>
        {area("mcp_servers", "MCP servers (JSON)", 4)}
      </fieldset>
      {error !== null && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      <div class="buttons">
        {!fixed && (
          <button type="submit" class="primary">
            Save
          </button>
        )}
        <button type="button" class="quiet" onClick={onCancel}>
          {fixed ? "Close" : "Cancel"}
        </button>
      </div>
    </form>
  );
}

interface ChoicesProps {
  title: string;
  notes: { id: string; name: string }[];
  chosen: string[];
  onChange: (chosen: string[]) => void;
}

function Choices({ title, notes, chosen, onChange }: ChoicesProps) {
  if (notes.length === 0) {
    return null;
  }
  return (
    <fieldset>
      <legend>{title}</legend>
      {notes.map((note) => (
        <label key={note.id} class="choice">
          <input
            type="checkbox"
            checked={chosen.includes(note.id)}
            onChange={() => onChange(chosen.includes(note.id) ? chosen.filter((id) => id !== note.id) : [...chosen, note.id])}
          />
          <span>{note.name}</span>
        </label>
      ))}
    </fieldset>
  );
}

function typedOf(project: Project | null): Typed {
  const lines = (list: string[] | undefined): string => (list ?? []).join("\n");
  return {
    name: project?.name ?? "",
    cwd: project?.cwd ?? "",
    environment: lines(Object.entries(project?.environment ?? {}).map(([name, value]) => `${name}=${value}`)),
    guarded_paths: lines(project?.guarded_paths),
    allowed_tools: lines(project?.allowed_tools),
    disallowed_tools: lines(project?.disallowed_tools),
    permission_mode: project?.permission_mode ?? "default",
    model: project?.model ?? "",
    max_budget_usd: project?.max_budget_usd?.toString() ?? "",
    daily_budget_usd: project?.daily_budget_usd?.toString() ?? "",
    mcp_servers: Object.keys(project?.mcp_servers ?? {}).length === 0 ? "" : JSON.stringify(project?.mcp_servers, null, 2),
    additional_prompt: project?.additional_prompt ?? "",
  };
}

type Read = Omit<ProjectDraft, "persona_ids" | "skill_ids" | "agent_ids">;

/** What was typed as a project, or a sentence about what is wrong with it. */
export function readTyped(typed: Typed): Read | string {
  const lines = (text: string): string[] => text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const environment: Record<string, string> = {};
  for (const line of lines(typed.environment)) {
    const at = line.indexOf("=");
    if (at < 1) {
      return `The variable "${line}" has no value: write NAME=value.`;
    }
    environment[line.slice(0, at).trim()] = line.slice(at + 1);
  }
  const budgets = [typed.max_budget_usd, typed.daily_budget_usd].map((text) => (text.trim() === "" ? null : Number(text)));
  if (budgets.some((budget) => budget !== null && !(budget > 0))) {
    return "A budget is a number above zero, or empty for none.";
  }
  let servers: unknown = {};
  try {
    servers = typed.mcp_servers.trim() === "" ? {} : JSON.parse(typed.mcp_servers);
  } catch (error) {
    return `The MCP servers are not valid JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  return {
    name: typed.name.trim(),
    cwd: typed.cwd.trim(),
    environment,
    guarded_paths: lines(typed.guarded_paths),
    allowed_tools: lines(typed.allowed_tools),
    disallowed_tools: lines(typed.disallowed_tools),
    permission_mode: typed.permission_mode,
    model: typed.model === "" ? null : typed.model,
    max_budget_usd: budgets[0] ?? null,
    daily_budget_usd: budgets[1] ?? null,
    mcp_servers: servers as Record<string, unknown>,
    additional_prompt: typed.additional_prompt.trim(),
  };
}
