// A new conversation: write, and it begins.

import { useState } from "preact/hooks";

import { host } from "../host/http";
import type { Upload } from "../host/http";
import { send } from "../outbox";
import { Composer } from "../parts/Composer";
import { ModePicker, ModelPicker } from "../parts/Pickers";
import { addressOf, go } from "../route";
import { attempt, info, isOwner, projects, putConversation } from "../state";

const EXAMPLES = [
  "List the files here",
  "Run `git status`",
  "Write notes.txt with `hello`",
  "Ask me which color I like: red, blue or green",
];

export function HomePage() {
  const [project, setProject] = useState("");
  const [cwd, setCwd] = useState("");
  const [model, setModel] = useState<string | null>(null);
  const [mode, setMode] = useState("default");
  const chosen = projects.value.find((one) => one.id === project);
  const begin = async (text: string, attachments: Upload[]): Promise<void> => {
    await attempt(async () => {
      const conversation = await host.create({
        ...(project === "" ? {} : { project_id: project }),
        ...(cwd.trim() === "" ? {} : { cwd: cwd.trim() }),
        ...(model === null ? {} : { model }),
        ...(mode === "default" ? {} : { permission_mode: mode }),
      });
      putConversation(conversation);
      go(addressOf.conversation(conversation.id));
      // The page of the conversation follows it from here on; what is said comes after that.
      await Promise.resolve();
      await send(conversation.id, text, attachments);
    });
  };
  return (
    <main class="page home" id="main">
      <h1>What shall be done?</h1>
      {info.value?.rehearsal === true && (
        <p class="notice info" role="note">
          No API key was found, so the built-in <em>rehearsal model</em> answers. It is no language model: it turns plain requests into real
          tool calls, so that you can try everything here. Set <code>ANTHROPIC_API_KEY</code> and start the host again for a real one.
        </p>
      )}
      <Composer conversation={null} placeholder="Write to the agent" known={{ commands: [], agents: [] }} running={false} disabled={!isOwner.value} onSend={begin}>
        <ModelPicker value={model ?? chosen?.model ?? info.value?.model ?? ""} onChange={setModel} />
        <ModePicker value={mode} onChange={setMode} />
      </Composer>
      <div class="home-options">
        {projects.value.length > 0 && (
          <label>
            Project
            <select value={project} onChange={(event) => setProject(event.currentTarget.value)}>
              <option value="">None</option>
              {projects.value.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.name}
                </option>
              ))}
            </select>
          </label>
        )}
        <label>
          Working directory
          <input
            type="text"
            class="mono"
            placeholder={chosen?.cwd ?? "where the host was started"}
            value={cwd}
            onInput={(event) => setCwd(event.currentTarget.value)}
          />
        </label>
      </div>
      {isOwner.value && (
        <section aria-label="Examples" class="examples">
          {EXAMPLES.map((example) => (
            <button key={example} type="button" class="example" onClick={() => void begin(example, [])}>
              {example}
            </button>
          ))}
        </section>
      )}
    </main>
  );
}
