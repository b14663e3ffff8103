// What comes from files: where they are, which document is from one, and which file is broken.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import type { DocumentFiles } from "../host/contract";
import { host } from "../host/http";
import { attempt, documents } from "../state";
import { visible } from "../text/visible";

/** A section with its broken files above it, and below it where files for it belong. */
export function WithFiles({ section, children }: { section: string; children: ComponentChildren }) {
  const [files, setFiles] = useState<DocumentFiles | null>(null);
  useEffect(() => {
    void attempt(async () => setFiles(await host.files()));
  }, [documents.value]);
  const directory = files === null ? "" : `${files.directory}/${section}`;
  const isHere = (path: string): boolean => path === directory || path.startsWith(`${directory}/`);
  const problems = (files?.problems ?? []).filter((problem) => isHere(problem.path));
  return (
    <>
      {problems.map((problem, index) => (
        <div key={index} class="notice error" role="alert" data-testid="file-problem">
          <p>
            <code>
              {visible(problem.path)}
              {problem.line !== null && `:${problem.line}`}
            </code>
          </p>
          <p>{visible(problem.message)}</p>
        </div>
      ))}
      {children}
      {files !== null && (
        <p class="muted small">
          Files count as well: <code>{visible(directory)}/NAME.md</code> is read at the start and whenever it changes.
        </p>
      )}
    </>
  );
}

/** Says of a document that it is from a file, and that it is changed there. */
export function FromFile({ source }: { source: string | undefined }) {
  if (source === undefined) {
    return null;
  }
  return (
    <p class="small from-file" data-testid="from-file">
      <span class="tag">file</span> <code>{visible(source)}</code> <span class="muted">Change it there; it is taken over at once.</span>
    </p>
  );
}
