// Pictures that came with a result.

import { useState } from "preact/hooks";

import type { Picture } from "../view/view";
import { Enlarged } from "./Enlarged";

export function Pictures({ pictures }: { pictures: Picture[] }) {
  const [open, setOpen] = useState<number | null>(null);
  if (pictures.length === 0) {
    return null;
  }
  const nameOf = (index: number): string => `Picture ${index + 1} of ${pictures.length}`;
  const shown = open === null ? undefined : pictures[open];
  return (
    <div class="pictures">
      {pictures.map((picture, index) => (
        <button key={index} type="button" class="thumbnail" aria-label={`Enlarge ${nameOf(index).toLowerCase()}`} onClick={() => setOpen(index)}>
          <img src={sourceOf(picture)} alt={nameOf(index)} loading="lazy" />
        </button>
      ))}
      {open !== null && shown !== undefined && <Enlarged name={nameOf(open)} source={sourceOf(shown)} onClose={() => setOpen(null)} />}
    </div>
  );
}

function sourceOf(picture: Picture): string {
  return `data:${picture.media_type};base64,${picture.data}`;
}
