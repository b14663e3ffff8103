// A difference between two versions of a file.

import type { Hunk } from "../text/diff";
import { countChanges } from "../text/diff";
import { visible } from "../text/visible";

const SPOKEN = { "+": "added", "-": "removed", " ": "" };

export function Diff({ hunks, path }: { hunks: Hunk[]; path: string }) {
  const { added, removed } = countChanges(hunks);
  return (
    <figure class="diff" data-testid="diff">
      <figcaption>
        <span class="path">{visible(path)}</span>
        <span class="counts">
          <span class="added">+{added}</span> <span class="removed">−{removed}</span>
        </span>
      </figcaption>
      <div class="diff-scroll" tabIndex={0} role="group" aria-label={`Changes in ${path}: ${added} lines added, ${removed} removed`}>
        {hunks.length === 0 && <p class="muted pad">Nothing changes.</p>}
        {hunks.map((hunk, number) => (
          <table key={number} class="hunk">
            <tbody>
              {hunk.lines.map((line, index) => (
                <tr key={index} class={line.sign === "+" ? "added" : line.sign === "-" ? "removed" : ""}>
                  <td class="number" aria-hidden="true">
                    {line.old ?? ""}
                  </td>
                  <td class="number" aria-hidden="true">
                    {line.new ?? ""}
                  </td>
                  <td class="sign" aria-label={SPOKEN[line.sign]}>
                    {line.sign}
                  </td>
                  <td class="line">{visible(line.text)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        ))}
      </div>
    </figure>
  );
}
