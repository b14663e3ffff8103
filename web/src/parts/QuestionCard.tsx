// Questions of the agent as a form.

import { useState } from "preact/hooks";

import { answer } from "../answers";
import type { Approval } from "../host/contract";
import { mayAnswer } from "../state";
import { visible } from "../text/visible";
import type { Choice, Question } from "../view/questions";
import { answersOf, readQuestions } from "../view/questions";

export function QuestionCard({ approval }: { approval: Approval }) {
  const questions = readQuestions(approval.input);
  const [choices, setChoices] = useState<Choice[]>(() => questions.map(() => ({ labels: [], other: "" })));
  const [busy, setBusy] = useState(false);
  const [missing, setMissing] = useState(false);

  const set = (index: number, choice: Choice): void => setChoices(choices.map((old, at) => (at === index ? choice : old)));
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const answers = answersOf(questions, choices);
    if (answers === null) {
      setMissing(true);
      return;
    }
    setBusy(true);
    await answer(approval, { decision: "allow", answers });
    setBusy(false);
  };
  const skip = async (): Promise<void> => {
    setBusy(true);
    await answer(approval, { decision: "deny", message: "The user does not want to answer. Decide yourself or go on without it." });
    setBusy(false);
  };
  return (
    <form
      class="approval question-card"
      tabIndex={-1}
      data-approval={approval.id}
      data-testid="question"
      aria-label="Questions for you"
      onSubmit={(event) => void submit(event)}
    >
      {questions.map((question, index) => (
        <QuestionField
          key={question.question}
          name={`${approval.id}-${index}`}
          question={question}
          choice={choices[index] ?? { labels: [], other: "" }}
          onChange={(choice) => set(index, choice)}
        />
      ))}
      {missing && (
        <p class="error" role="alert">
          Every question needs an answer: choose an option or write your own.
        </p>
      )}
      {mayAnswer.value && (
        <div class="buttons">
          <button type="submit" class="primary" disabled={busy}>
            Answer
          </button>
          <button type="button" class="quiet" disabled={busy} onClick={() => void skip()}>
            Do not answer
          </button>
        </div>
      )}
    </form>
  );
}

interface QuestionFieldProps {
  name: string;
  question: Question;
  choice: Choice;
  onChange: (choice: Choice) => void;
}

function QuestionField({ name, question, choice, onChange }: QuestionFieldProps) {
  const toggle = (label: string): void => {
    if (!question.multiSelect) {
      onChange({ labels: [label], other: "" });
    } else if (choice.labels.includes(label)) {
      onChange({ ...choice, labels: choice.labels.filter((one) => one !== label) });
    } else {
      onChange({ ...choice, labels: [...choice.labels, label] });
    }
  };
  return (
    <fieldset disabled={!mayAnswer.value}>
      <legend>
        {question.header !== "" && <span class="tag">{visible(question.header)}</span>} {visible(question.question)}
      </legend>
      {question.options.map((option) => (
        <label key={option.label} class="choice">
          <input
            type={question.multiSelect ? "checkbox" : "radio"}
            name={name}
            checked={choice.labels.includes(option.label)}
            onChange={() => toggle(option.label)}
          />
          <span>
            {visible(option.label)}
            {option.description !== "" && <span class="muted small"> {visible(option.description)}</span>}
            {option.preview !== "" && <pre class="preview">{visible(option.preview)}</pre>}
          </span>
        </label>
      ))}
      <label class="other">
        <span class="small muted">{question.multiSelect ? "And in your own words" : "Or in your own words"}</span>
        <input
          type="text"
          value={choice.other}
          maxLength={4000}
          onInput={(event) => {
            const other = event.currentTarget.value;
            onChange({ labels: question.multiSelect || other === "" ? choice.labels : [], other });
          }}
        />
      </label>
    </fieldset>
  );
}
