// Projects: where agents work, with what, and within which limits.

import { useEffect, useState } from "preact/hooks";

import type { Agent, Note, Project } from "../host/contract";
import { host } from "../host/http";
import { Confirm } from "../parts/Dialog";
import { attempt, documents, isOwner, projects, toast } from "../state";
import { modeName } from "../view/modes";
import type { ProjectDraft } from "./ProjectForm";
import { FromFile } from "./FileNotes";
import { ProjectForm } from "./ProjectForm";

export function ProjectsSection() {
  const [editing, setEditing] = useState<string | null>(null);
  const [removing, setRemoving] = useState<Project | null>(null);
  const [personas, setPersonas] = useState<Note[]>([]);
  const [skills, setSkills] = useState<Note[]>([]);
  const [agents, setAgents] = useState<Agent[]>([]);
  const load = (): void =>
    void attempt(async () => {
      projects.value = await host.projects.list();
      setPersonas(await host.personas.list());
      setSkills(await host.skills.list());
      setAgents(await host.agents.list());
    });
  useEffect(load, [documents.value]);
  const parts = { personas, skills, agents };
  const save = async (id: string | null, draft: ProjectDraft): Promise<void> => {
    await attempt(async () => {
      await (id === null ? host.projects.add(draft) : host.projects.change(id, draft));
      setEditing(null);
      toast("info", `Saved: ${draft.name}`);
      load();
    });
  };
  return (
    <section>
      <p class="muted">A project is a working directory with everything an agent needs there: variables, tools, limits, personas, skills and agents.</p>
      {projects.value.length === 0 && editing === null && (
        <p class="empty">There is no project yet. Conversations without one work where the host was started.</p>
      )}
      <ul class="cards">
        {projects.value.map((project) => (
          <li key={project.id} class="card">
            {editing === project.id ? (
              <ProjectForm project={project} {...parts} onSave={(draft) => save(project.id, draft)} onCancel={() => setEditing(null)} />
            ) : (
              <>
                <h2>{project.name}</h2>
                <p>
                  <code>{project.cwd}</code>
                </p>
                {summary(project) !== "" && <p class="muted small">{summary(project)}</p>}
                <FromFile source={project.source} />
                {project.source !== undefined && (
                  <div class="buttons">
                    <button type="button" aria-label={`Show ${project.name}`} onClick={() => setEditing(project.id)}>
                      Show
                    </button>
                  </div>
                )}
                {isOwner.value && project.source === undefined && (
                  <div class="buttons">
                    <button type="button" onClick={() => setEditing(project.id)}>
                      Edit
                    </button>
                    <button type="button" class="quiet" aria-label={`Delete ${project.name}`} onClick={() => setRemoving(project)}>
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
          <ProjectForm project={null} {...parts} onSave={(draft) => save(null, draft)} onCancel={() => setEditing(null)} />
        </div>
      ) : (
        isOwner.value && (
          <button type="button" class="primary" onClick={() => setEditing("")}>
            New project
          </button>
        )
      )}
      {removing !== null && (
        <Confirm
          title={`Delete ${removing.name}?`}
          text="Its conversations stay and go on without a project. No file is touched."
          action="Delete"
          onClose={() => setRemoving(null)}
          onConfirm={() =>
            void attempt(async () => {
              await host.projects.remove(removing.id);
              load();
            })
          }
        />
      )}
    </section>
  );
}

function summary(project: Project): string {
  return [
    project.permission_mode ? modeName(project.permission_mode) : "",
    project.model ?? "",
    project.max_budget_usd === null ? "" : `$${project.max_budget_usd} a run`,
    project.daily_budget_usd === null ? "" : `$${project.daily_budget_usd} a day`,
  ]
    .filter((part) => part !== "")
    .join(" · ");
}
