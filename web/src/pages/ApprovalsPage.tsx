// Everything that waits for an answer, in all conversations.

import { ApprovalCard } from "../parts/ApprovalCard";
import { addressOf } from "../route";
import { conversations, pending } from "../state";
import { toolName } from "../view/headline";

export function ApprovalsPage() {
  return (
    <main class="page" id="main">
      <h1>Approvals</h1>
      {pending.value.length === 0 && (
        <div class="empty">
          <p>Nothing waits for you.</p>
          <p class="muted">When an agent needs permission or an answer, it appears here and in its conversation. It stays until somebody answers, also over restarts.</p>
        </div>
      )}
      {pending.value.map((approval) => (
        <section key={approval.id} class="call asking">
          <p class="small">
            <a href={addressOf.conversation(approval.conversation_id)}>
              {conversations.value.get(approval.conversation_id)?.title || "Conversation"}
            </a>
            {approval.kind === "permission" && <> · {toolName(approval.tool_name)}</>}
          </p>
          <ApprovalCard approval={approval} />
        </section>
      ))}
    </main>
  );
}
