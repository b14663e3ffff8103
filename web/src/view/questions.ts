// Questions of the agent, and what a person answers.

export interface Question {
  question: string;
  header: string;
  multiSelect: boolean;
  options: { label: string; description: string; preview: string }[];
}

/** What was chosen for one question. */
export interface Choice {
  labels: string[];
  other: string;
}

export function readQuestions(input: unknown): Question[] {
  const list = (input as { questions?: unknown } | null)?.questions;
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  return (Array.isArray(list) ? list : []).map((raw: Record<string, unknown>) => ({
    question: text(raw["question"]),
    header: text(raw["header"]),
    multiSelect: raw["multiSelect"] === true,
    options: (Array.isArray(raw["options"]) ? raw["options"] : []).map((option: Record<string, unknown>) => ({
      label: text(option["label"]),
      description: text(option["description"]),
      preview: text(option["preview"]),
    })),
  }));
}

/** The answers by question; null while one is missing. */
export function answersOf(questions: Question[], choices: Choice[]): Record<string, string> | null {
  const answers: Record<string, string> = {};
  for (const [index, question] of questions.entries()) {
    const choice = choices[index];
    const given = [...(choice?.labels ?? []), choice?.other.trim() ?? ""].filter((part) => part !== "");
    if (given.length === 0) {
      return null;
    }
    answers[question.question] = given.join(", ");
  }
  return answers;
}
