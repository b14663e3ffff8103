// Projects: where agents work, with what, and within which limits.

import { useEffect, useState } from "preact/hooks";

import type { Agent, Note, Project } from "../host/contract";
import { host } from "../host/http";
import { attempt, documents, projects } from "../state";
import { modeName } from "../view/modes";
import type { ProjectDraft } from "./ProjectForm";
import type { FormProps } from "./DocumentCards";
import { DocumentCards } from "./DocumentCards";
import { ProjectForm } from "./ProjectForm";

export function ProjectsSection() {
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
  return (
    <section>
      <p class="muted">A project is a working directory with everything an agent needs there: variables, tools, limits, personas, skills and agents.</p>
      <DocumentCards
        list={projects.value}
        one="project"
        empty="There is no project yet. Conversations without one work where the host was started."
        farewell="Its conversations stay and go on without a project. No file is touched."
        show={(project) => (
          <>
            <h2>{project.name}</h2>
            <p>
              <code>{project.cwd}</code>
            </p>
            {summary(project) !== "" && <p class="muted small">{summary(project)}</p>}
          </>
        )}
        form={(project, props: FormProps<ProjectDraft>) => <ProjectForm project={project} {...parts} {...props} />}
        opensFiles
        keep={(id, draft) => (id === null ? host.projects.add(draft) : host.projects.change(id, draft))}
        remove={host.projects.remove}
        reload={load}
      />
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
