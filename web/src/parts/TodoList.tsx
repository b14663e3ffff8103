// The steps of the present work.

import type { Todo } from "../view/view";

const SIGNS = { pending: "○", in_progress: "◐", completed: "●" };
const SPOKEN = { pending: "to do", in_progress: "in progress", completed: "done" };

export function TodoList({ todos }: { todos: Todo[] }) {
  return (
    <ul class="todos" data-testid="todos">
      {todos.map((todo, index) => (
        <li key={index} class={todo.status}>
          <span aria-hidden="true">{SIGNS[todo.status]}</span>
          <span>
            {todo.status === "in_progress" ? todo.active : todo.content}
            <span class="hidden">, {SPOKEN[todo.status]}</span>
          </span>
        </li>
      ))}
    </ul>
  );
}
