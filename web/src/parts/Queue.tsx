// Messages that wait for their turn.

import { host } from "../host/http";
import { attempt, isOwner } from "../state";
import { queue } from "../view/queue";
import type { View } from "../view/view";

export function Queue({ conversation, view }: { conversation: string; view: View }) {
  const waiting = queue(view);
  if (waiting.length === 0) {
    return null;
  }
  return (
    <ol class="queue" aria-label="Messages in the queue" data-testid="queue">
      {waiting.map((item, index) => (
        <li key={item.key}>
          <span class="tag">{index + 1}</span>
          <span class="queue-text">{item.text}</span>
          {isOwner.value && item.message_id !== null && (
            <button
              type="button"
              class="quiet small"
              aria-label={`Take back: ${item.text.slice(0, 60)}`}
              onClick={() => void attempt(() => host.takeBack(conversation, item.message_id as string))}
            >
              Take back
            </button>
          )}
        </li>
      ))}
    </ol>
  );
}
