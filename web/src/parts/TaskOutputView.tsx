// The output of a background task, followed while it runs.

import { useEffect, useState } from "preact/hooks";

import type { TaskOutput } from "../host/contract";
import { host, sentence } from "../host/http";
import { attempt, isOwner } from "../state";
import type { Task } from "../view/view";
import { Output } from "./Output";

const EVERY_MS = 1500;

export function TaskOutputView({ conversation, task }: { conversation: string; task: Task }) {
  const [shown, setShown] = useState<TaskOutput | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [following, setFollowing] = useState(task.state === "running");
  useEffect(() => {
    if (!following) {
      return undefined;
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    let ended = false;
    const look = async (): Promise<void> => {
      try {
        const output = await host.taskOutput(conversation, task.id);
        if (!ended) {
          setShown(output);
          setError(null);
        }
      } catch (problem) {
        if (!ended) {
          setError(sentence(problem));
        }
      }
      if (!ended && task.state === "running") {
        timer = setTimeout(() => void look(), EVERY_MS);
      }
    };
    void look();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [conversation, task.id, task.state, following]);
  return (
    <div class="task-output">
      {shown !== null && shown.output !== "" && <Output text={shown.output} label={`Output of ${task.description}`} tail />}
      {error !== null && <p class="muted small">{error}</p>}
      <div class="buttons">
        <button type="button" class="quiet small" aria-pressed={following} onClick={() => setFollowing(!following)}>
          {following ? "Stop following" : "Show its output"}
        </button>
        {task.state === "running" && isOwner.value && !task.id.startsWith("call:") && (
          <button type="button" class="quiet small" onClick={() => void attempt(() => host.stopTask(conversation, task.id))}>
            Stop task
          </button>
        )}
      </div>
    </div>
  );
}
