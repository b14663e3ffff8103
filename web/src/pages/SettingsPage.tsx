// Everything that is set for good: projects, personas, skills, agents, questions, appearance; and the audit.

import { useEffect, useState } from "preact/hooks";

import type { AuditEntry } from "../host/contract";
import { host, sentence } from "../host/http";
import { notifying, setNotifying } from "../notify";
import { addressOf } from "../route";
import { conversations, info, isOwner, theme, toast } from "../state";
import type { Theme } from "../state";
import { clock } from "../text/format";
import { visible } from "../text/visible";
import { readAudit } from "../view/audit";
import { AgentsSection } from "./AgentsSection";
import { WithFiles } from "./FileNotes";
import { NotesSection } from "./NotesSection";
import { PolicySection } from "./PolicySection";
import { ProjectsSection } from "./ProjectsSection";

const SECTIONS: [id: string, name: string][] = [
  ["projects", "Projects"],
  ["personas", "Personas"],
  ["skills", "Skills"],
  ["agents", "Agents"],
  ["questions", "Questions"],
  ["appearance", "Appearance"],
  ["audit", "Audit"],
];

const KEPT_AS_FILES = new Set(["projects", "personas", "skills", "agents"]);

export function SettingsPage({ section }: { section: string }) {
  return (
    <main class="page settings" id="main">
      <h1>Settings</h1>
      <nav class="tabs" aria-label="Settings">
        {SECTIONS.filter(([id]) => id !== "audit" || isOwner.value).map(([id, name]) => (
          <a key={id} href={addressOf.settings(id)} aria-current={id === section ? "page" : undefined}>
            {name}
          </a>
        ))}
      </nav>
      {KEPT_AS_FILES.has(section) ? (
        <WithFiles section={section}>
          <Section section={section} />
        </WithFiles>
      ) : (
        <Section section={section} />
      )}
    </main>
  );
}

function Section({ section }: { section: string }) {
  switch (section) {
    case "personas":
      return (
        <NotesSection
          key="personas"
          notes={host.personas}
          one="persona"
          about="A persona says who the agent is and how it speaks. Projects choose which ones apply; their texts come first in the prompt."
        />
      );
    case "skills":
      return (
        <NotesSection
          key="skills"
          notes={host.skills}
          one="skill"
          about="A skill says how something is done here. Projects choose which ones apply; their texts follow the personas."
        />
      );
    case "agents":
      return <AgentsSection />;
    case "questions":
      return <PolicySection />;
    case "appearance":
      return <Appearance />;
    case "audit":
      return <Audit />;
    default:
      return <ProjectsSection />;
  }
}

const THEMES: [Theme, string][] = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
];

function Appearance() {
  return (
    <section>
      <h2>Appearance</h2>
      <fieldset>
        <legend>Colours</legend>
        {THEMES.map(([id, name]) => (
          <label key={id} class="choice">
            <input
              type="radio"
              name="theme"
              checked={theme.value === id}
              onChange={() => {
                theme.value = id;
              }}
            />
            <span>{name}</span>
          </label>
        ))}
      </fieldset>
      <label class="choice">
        <input
          type="checkbox"
          checked={notifying.value}
          onChange={(event) => {
            const box = event.currentTarget;
            void setNotifying(box.checked).then((problem) => {
              box.checked = notifying.value;
              if (problem !== null) {
                toast("error", problem);
              }
            });
          }}
        />
        <span>
          Tell me when a question waits and I look elsewhere <span class="muted small">(a notification of this browser)</span>
        </span>
      </label>
      {info.value !== null && (
        <p class="muted small">
          Tillerman {info.value.version}, protocol level {info.value.protocol_level}. Signed in as {info.value.user.name} ({info.value.user.role}).
        </p>
      )}
    </section>
  );
}

function Audit() {
  const [entries, setEntries] = useState<AuditEntry[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    host.audit(200).then(
      (answer) => setEntries(answer.entries),
      (problem: unknown) => setError(sentence(problem)),
    );
  }, []);
  return (
    <section>
      <h2>Audit</h2>
      <p class="muted">Who did what, newest first.</p>
      {error !== null && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      {entries !== null && entries.length === 0 && <p>Nothing was done yet.</p>}
      {entries !== null && entries.length > 0 && (
        <div class="table-scroll" tabIndex={0} role="group" aria-label="Audit">
          <table>
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">Who</th>
                <th scope="col">What</th>
                <th scope="col">About</th>
              </tr>
            </thead>
            <tbody>
              {entries.map((entry, index) => (
                <AuditRow key={index} entry={entry} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function AuditRow({ entry }: { entry: AuditEntry }) {
  const { what, conversation, about } = readAudit(entry);
  const title = conversation === null ? undefined : conversations.value.get(conversation)?.title;
  // The whole of it is one hover away, since somebody may have to compare ids and hashes.
  const whole = [entry.action, entry.subject ?? "", typeof entry.detail === "string" ? entry.detail : JSON.stringify(entry.detail ?? "")].join(" ");
  return (
    <tr title={visible(whole)}>
      <td class="once">{clock(entry.at)}</td>
      <td>{entry.user || "the host"}</td>
      <td>{what}</td>
      <td class="wrap">
        {conversation !== null && <a href={addressOf.conversation(conversation)}>{visible(title || `conversation ${conversation.slice(0, 8)}…`)}</a>}
        {conversation !== null && about !== "" && " · "}
        {visible(about)}
      </td>
    </tr>
  );
}
