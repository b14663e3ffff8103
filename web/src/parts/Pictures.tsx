// Pictures that came with a message or a result.

import type { Picture } from "../view/view";

export function Pictures({ pictures }: { pictures: Picture[] }) {
  if (pictures.length === 0) {
    return null;
  }
  return (
    <div class="pictures">
      {pictures.map((picture, index) => (
        <img
          key={index}
          src={`data:${picture.media_type};base64,${picture.data}`}
          alt={`Picture ${index + 1} of ${pictures.length}`}
          loading="lazy"
        />
      ))}
    </div>
  );
}
